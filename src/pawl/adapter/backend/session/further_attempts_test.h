// A third program that tries to get out: by descriptors, by the kernel's rarer interfaces, by
// signals that nobody sends with kill(), by names beside the protected ones. Run inside a
// sandbox by further_attacks_test.cc, behind kAttemptsBegin.
#pragma once

namespace pawl::backend {

// argv: host pid, directory outside (with `secret` and the program `run`), key of a message queue,
// key of a semaphore, directory that may only be read (with `given`)
inline constexpr const char* kFurtherAttempts = R"python(
import array, errno, fcntl, resource, signal, socket, struct
host, outside, queue, semaphore, reference = sys.argv[1:6]
host = int(host)
here = os.getcwd()
def text(words):
    return ctypes.c_char_p(words.encode())
# Families of sockets that nobody needs, each a door into the kernel of its own.
for family in range(3, 64):
    if family in (socket.AF_INET6, socket.AF_NETLINK): continue
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind)
            print('family %d=ok' % family)
        except OSError: pass
attempt('af_alg', lambda: socket.socket(38, socket.SOCK_SEQPACKET))
attempt('raw ip 6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58))
attempt('netlink audit', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9))
attempt('netlink netfilter', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12))
attempt('netlink uevent', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15))
# Signals by other ways than kill().
def by_owner():
    one, other = socket.socketpair()
    fcntl.fcntl(one, 10, signal.SIGUSR2)  # F_SETSIG
    fcntl.fcntl(one, fcntl.F_SETOWN, host)
    fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    other.send(b'x')
    raise OSError(errno.EPERM, 'the host says whether it came')
attempt('signal by owner of a descriptor', by_owner)
attempt('tgkill', call(234, host, host, int(signal.SIGUSR2)))
attempt('tkill', call(200, host, int(signal.SIGUSR2)))
attempt('rt_tgsigqueueinfo', call(297, host, host, int(signal.SIGUSR2), ctypes.create_string_buffer(128)))
def by_pidfd():
    number(424, number(434, host, 0), int(signal.SIGUSR2), 0, 0)
attempt('pidfd_send_signal', by_pidfd)
def steal():
    number(438, number(434, host, 0), 1, 0)
attempt('pidfd_getfd of the host', steal)
attempt('process_mrelease', lambda: number(448, number(434, host, 0), 0))
attempt('process_madvise', lambda: number(440, number(434, host, 0), 0, 0, 20, 0))
attempt('kcmp', call(312, host, os.getpid(), 0, 0, 0))
attempt('get_robust_list', call(274, host, ctypes.create_string_buffer(8), ctypes.create_string_buffer(8)))
attempt('move_pages', call(279, host, 1, ctypes.create_string_buffer(8), 0, ctypes.create_string_buffer(8), 0))
for space in ('mnt', 'pid', 'net', 'user', 'ipc', 'uts', 'cgroup', 'time'):
    attempt('setns ' + space, lambda: number(308, os.open('/proc/%d/ns/%s' % (host, space), os.O_RDONLY), 0))
attempt('setns by pidfd', lambda: number(308, number(434, host, 0), 0x20000))
for name, flag in (('time', 0x80), ('cgroup', 0x2000000), ('ipc', 0x8000000), ('uts', 0x4000000)):
    attempt('unshare ' + name, call(272, flag))
attempt('time offsets', lambda: os.open('/proc/self/timens_offsets', os.O_WRONLY))
# Descriptors that name without opening, and what can be made of them.
def through(action):
    def run():
        os.chdir(here)
        action(os.open(outside, os.O_PATH))
    return run
attempt('o_path, then openat', through(lambda fd: os.open('secret', os.O_RDONLY, dir_fd=fd)))
attempt('o_path, then fchdir', through(lambda fd: (os.fchdir(fd), os.open('secret', os.O_RDONLY))))
attempt('o_path, then mkdirat', through(lambda fd: os.mkdir('made', dir_fd=fd)))
attempt('o_path, then symlinkat', through(lambda fd: os.symlink('x', 'made', dir_fd=fd)))
attempt('o_path, then linkat', through(lambda fd: os.link('secret', 'stolen', src_dir_fd=fd)))
attempt('o_path, then unlinkat', through(lambda fd: os.unlink('secret', dir_fd=fd)))
attempt('o_path, then exchange', through(lambda fd: number(316, fd, text('secret'), -100, text('mine'), 2)))
attempt('o_path, then execveat', through(lambda fd: os.execve(os.open('run', os.O_PATH, dir_fd=fd), ['run'], {})))
attempt('o_path, then fchmodat2', through(lambda fd: number(452, fd, text('secret'), 0o777, 0)))
attempt('o_path, opened anew', lambda: os.open('/proc/self/fd/%d' % os.open(outside + '/secret', os.O_PATH), os.O_RDONLY))
os.chdir(here)
attempt('linkat of a descriptor', lambda: number(265, os.open(reference + '/given', os.O_RDONLY), text(''), -100, text('copy'), 0x1000))
attempt('link to what may be read', lambda: os.link(reference + '/given', 'copy'))
attempt('write what may be read', lambda: os.open(reference + '/given', os.O_WRONLY))
attempt('chmod what may be read', lambda: os.chmod(reference + '/given', 0o600))
attempt('utimes of what may be read', lambda: os.utime(reference + '/given', (1, 1)))
# Metadata by request: a descriptor that may only read is enough for the owner.
def request(path, mode, value, *numbers):
    return lambda: fcntl.ioctl(os.open(path, mode), value, struct.pack(*numbers))
given = reference + '/given'
attempt('flags of what may be read', request(given, os.O_RDONLY, 0x40086602, 'q', 0x40))
attempt('attributes of what may be read', request(given, os.O_RDONLY, 0x401c5820, 'IIIII8x', 0x80, 0, 0, 0, 0))
attempt('version of what may be read', request(given, os.O_RDONLY, 0x40087602, 'q', 5))
attempt('older version of what may be read', request(given, os.O_RDONLY, 0x40086604, 'q', 5))
attempt('seal of what may be read', request(given, os.O_RDONLY, 0x40806685, 'III116x', 1, 1, 4096))
# Space that is allotted and not written, by requests that are fallocate().
for name, value in (('reserve', 0x40305828), ('reserve 64', 0x4030582a), ('zero range', 0x40305839)):
    attempt('allot, ' + name, request('mine', os.O_RDWR, value, 'hhqqII16x', 0, 0, 0, 1 << 20, 0, 0))
attempt('setxattrat', call(463, -100, text(outside + '/secret'), 0, text('user.x'), 0, 0))
attempt('file capability', lambda: os.setxattr('mine', 'security.capability', b'\x01\0\0\x02' + b'\xff' * 16))
attempt('immutable flag', lambda: fcntl.ioctl(os.open('mine', os.O_RDONLY), 0x40086602, array.array('l', [0x10])))
attempt('name_to_handle_at', call(303, -100, text('.'), ctypes.create_string_buffer(struct.pack('II', 128, 0), 136), ctypes.create_string_buffer(4), 0))
attempt('fsconfig', call(431, 0, 0, 0, 0, 0))
attempt('fsmount', call(432, 0, 0, 0))
attempt('fspick', call(433, -100, text('/'), 0))
attempt('mount_setattr', call(442, -100, text('/'), 0x8000, ctypes.create_string_buffer(32), 32))
attempt('open_tree_attr', call(467, -100, text('/'), 1, 0, 0))
attempt('fanotify', call(300, 0, 0))
attempt('quotactl', call(179, 0x80000100, 0, 0, 0))
attempt('quotactl_fd', call(443, 0, 0, 0, 0))
attempt('swapoff', call(168, text('/x')))
attempt('kexec_file_load', call(320, 0, 0, 0, 0, 0))
attempt('finit_module', call(313, 0, text(''), 0))
attempt('acct', call(163, 0))
attempt('syslog', call(103, 3, ctypes.create_string_buffer(64), 64))
attempt('vhangup', call(153))
attempt('sethostname', call(170, text('x'), 1))
attempt('ioperm', call(173, 0x80, 1, 1))
attempt('modify_ldt', call(154, 0, ctypes.create_string_buffer(64), 64))
attempt('request_key', call(249, text('user'), text('x'), 0, 0))
attempt('keyring of the session', call(250, 0, -3, 0))
attempt('userfaultfd, user mode only', call(323, 1))
attempt('bpf program', call(321, 5, ctypes.create_string_buffer(128), 128))
attempt('perf of itself', call(298, ctypes.create_string_buffer(struct.pack('II', 1, 120) + b'\0' * 112), 0, -1, -1, 0))
attempt('io_uring_register', call(427, 0, 0, 0, 0))
# What it has of the machine cannot be made more.
def more_of(limit):
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError:  # beyond the hard limit
        raise OSError(errno.EPERM, 'x')
for name, limit in (('core', resource.RLIMIT_CORE), ('file size', resource.RLIMIT_FSIZE)):
    attempt('more ' + name, lambda: more_of(limit))
attempt('real time', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt('real time input', call(251, 1, 0, 1 << 13))
attempt('nicer', lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
attempt('memory map of itself', call(157, 35, 8, 0, 0, 0))  # PR_SET_MM
attempt('dumps of setuid programs', lambda: os.open('/proc/sys/fs/suid_dumpable', os.O_WRONLY))
attempt('preload for everybody', lambda: os.open('/etc/ld.so.preload', os.O_CREAT | os.O_WRONLY, 0o644))
# Rendezvous that other programs of the user have left.
attempt('message queue of the host', call(68, int(queue), 0))
attempt('semaphore of the host', call(64, int(semaphore), 1, 0))
for id in range(4):
    attempt('shared memory %d' % id, call(30, id, 0, 0))
for path in ('/dev/tty0', '/dev/tty1', '/dev/ttyS0', '/dev/vcs', '/dev/pts/0', '/dev/pts/ptmx', '/dev/userfaultfd',
             '/dev/snapshot', '/dev/mapper/control', '/dev/vsock', '/dev/vhost-net', '/dev/uinput', '/dev/hwrng',
             '/dev/watchdog', '/dev/rtc0', '/dev/btrfs-control', '/etc/ld.so.cache',
             '/usr/bin/env', '/proc/sys/fs/binfmt_misc/register', '/proc/sys/kernel/modprobe',
             '/proc/sys/user/max_user_namespaces', '/proc/self/mem/../../sys/vm/overcommit_memory',
             '/sys/kernel/debug/tracing/trace', '/sys/fs/bpf/x', '/proc/acpi/wakeup', '/proc/scsi/scsi'):
    attempt('write ' + path, lambda: os.open(path, os.O_WRONLY))
for path in ('/run/docker.sock', '/run/dbus/system_bus_socket', '/run/user', '/root/.ssh', '/root/.bashrc', '/home',
             '/var/lib', '/var/run/secrets', '/etc/ssh', '/etc/sudoers', '/boot', '/sys/class', '/proc/%d/cwd' % host,
             '/proc/%d/fd' % host, '/proc/%d/root' % host, '/proc/%d/map_files' % host, '/proc/1/fd/../../%d' % host):
    attempt('list ' + path, lambda: os.listdir(path) or os.listdir('/no/such') if os.path.isdir(path) else os.open(path, os.O_RDONLY))
)python";

}  // namespace pawl::backend
