// A second program that tries to get out: at what Landlock and namespaces leave to system calls, at
// the host's processes and its memory, and by what looks like the tool's own. Run
// inside a sandbox by attacks_test.cc, behind kAttemptsBegin.
#pragma once

namespace pawl::backend {

// argv: host pid, directory outside, datagram socket in the workspace, abstract datagram name,
// key of shared memory, name of a message queue
inline constexpr const char* kAttackAttempts = R"python(
import mmap, platform, signal, socket
host, outside, unix_path, abstract, shm_key, queue = sys.argv[1:7]
host = int(host)
def write(path, text='x'):
    return lambda: os.write(os.open(path, os.O_WRONLY), text.encode())
def read(path):
    return lambda: os.read(os.open(path, os.O_RDONLY), 16)
def datagram(kind, address):
    def action():
        mine, other = socket.socketpair(socket.AF_UNIX, kind)
        mine.sendto(b'leak', address)
    return action
def connected(kind, address):
    def action():
        mine, other = socket.socketpair(socket.AF_UNIX, kind)
        mine.connect(address)
    return action
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
    for name, address in (('path', unix_path), ('abstract', '\0' + abstract)):
        attempt('pair %d sends to %s' % (kind, name), datagram(kind, address))
        attempt('pair %d connects to %s' % (kind, name), connected(kind, address))
attempt('stream pair connects', connected(socket.SOCK_STREAM, unix_path))
for path in ('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sysrq-trigger',
             '/proc/sys/vm/drop_caches', '/proc/sys/net/ipv4/ip_forward', '/proc/self/uid_map',
             '/proc/self/setgroups', '/sys/kernel/uevent_helper', '/sys/power/state',
             '/sys/fs/cgroup/cgroup.procs', '/dev/mem', '/dev/kmsg', '/dev/vda', '/dev/sda',
             '/dev/ptmx', '/dev/fuse', '/dev/kvm', '/dev/net/tun', '/dev/loop-control', '/dev/console'):
    attempt('write ' + path, write(path))
for path in ('/proc/kcore', '/proc/kmsg', '/proc/1/root/etc/shadow', '/proc/self/root/etc/shadow',
             '/proc/self/cwd/../../../../../../etc/shadow', '/proc/%d/task/%d/environ' % (host, host),
             '/dev/shm/..//../etc/shadow', outside + '/../' + os.path.basename(outside) + '/secret'):
    attempt('read ' + path, read(path))
attempt('oom score', write('/proc/self/oom_score_adj', '-1000'))
attempt('shm of the host', call(29, int(shm_key), 4096, 0))
attempt('queue of the host', call(240, ctypes.c_char_p(queue.encode()), os.O_RDONLY, 0, 0))
attempt('limits of the host', call(302, host, 7, 0, ctypes.create_string_buffer(16)))
attempt('affinity of the host', call(203, host, 8, ctypes.create_string_buffer(b'\xff' * 8, 8)))
attempt('scheduler of the host', call(144, host, 0, ctypes.create_string_buffer(8)))
attempt('priority of the host', call(141, 0, host, 0))
attempt('priority of the group', call(141, 1, host, 0))
attempt('io priority of the host', call(251, 1, host, 0))
try: os.kill(-1, signal.SIGUSR1)
except OSError: pass
attempt('queued signal', call(129, host, 0, ctypes.create_string_buffer(128)))
# What is in a container ends with its pid namespace, and dies of calls of another architecture.
container = 'PAWL_IN_CONTAINER' in os.environ
if not container:
    attempt('outlive by nothing', call(157, 1, 0, 0, 0, 0))
    attempt('outlive by SIGCONT', call(157, 1, int(signal.SIGCONT), 0, 0, 0))
    attempt('outlive by SIGCONT, high bits', call(157, 0x100000001, int(signal.SIGCONT), 0, 0, 0))
attempt('raw ip', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('family with high bits', call(41, 0x100000001, 1, 0))
attempt('clock', call(227, 0, ctypes.create_string_buffer(16)))
attempt('adjtimex', call(159, ctypes.create_string_buffer(b'\x00\x01' + b'\0' * 300)))
attempt('allocate', call(285, os.open('space', os.O_CREAT | os.O_RDWR, 0o600), 0, 0, 1 << 20))
for name, path in (('outside', outside + '/secret'), ('system', '/etc/passwd'), ('setuid', '/usr/bin/su')):
    attempt('link to ' + name, lambda: os.link(path, 'link-' + name.replace(' ', '')))
os.symlink(outside, 'way-out')
attempt('write through a link', lambda: os.open('way-out/made', os.O_CREAT | os.O_WRONLY))
attempt('directory outside', lambda: os.mkdir(outside + '/made'))
attempt('fifo outside', lambda: os.mkfifo(outside + '/made'))
attempt('truncate outside', lambda: os.truncate(outside + '/secret', 0))
attempt('remove outside', lambda: os.unlink(outside + '/secret'))
attempt('carry in', lambda: os.rename(outside + '/secret', 'stolen'))
attempt('carry out', lambda: os.rename('space', outside + '/made'))
attempt('tmpfile with setuid', lambda: os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755))
attempt('directory with setgid', lambda: os.mkdir('d', 0o2755) or os.chmod('d', 0o2755))
attempt('fchmodat2', call(452, -100, ctypes.c_char_p(b'space'), 0o4755, 0))
attempt('new privileges', lambda: libc.prctl(39, 0, 0, 0, 0) == 1 or None if libc.prctl(39, 0, 0, 0, 0) == 0 else os.open('/no/such', 0))
if platform.machine() == 'x86_64' and not container:
    # int 0x80: the numbers of another architecture. mov eax, N; xor ebx, ebx; xor ecx, ecx; xor
    # edx, edx; push rbx around it; int 0x80; ret
    def int80(value):
        def action():
            page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
            page.write(b'\x53\xb8' + value.to_bytes(4, 'little') +
                       b'\x31\xdb\x31\xc9\x31\xd2\xcd\x80\x5b\xc3')
            entry = ctypes.addressof(ctypes.c_char.from_buffer(page))
            result = ctypes.CFUNCTYPE(ctypes.c_int)(entry)()
            if result < 0:
                raise OSError(-result, 'x')
        return action
    for name, value in (('ptrace', 26), ('getpid', 20), ('io_uring_setup', 425), ('unshare', 310)):
        attempt('int80 ' + name, int80(value))
)python";

}  // namespace pawl::backend
