// A program that tries to get out. Run inside a sandbox by escapes_test.cc, behind kAttemptsBegin.
#pragma once

namespace pawl::backend {

// argv: host pid, TCP port, UDP port, abstract name, directory outside, unix socket in the
// workspace
inline constexpr const char* kEscapeAttempts = R"python(
import fcntl, resource, socket
host, tcp, udp, abstract, outside, unix_path = sys.argv[1:7]
def write(path):
    return lambda: open(path, 'w').write('x')
def read(path):
    return lambda: open(path, 'rb').read(16)
def stream(family, address):
    def action():
        s = socket.socket(family, socket.SOCK_STREAM)
        s.settimeout(2)
        s.connect(address)
    return action
def datagram():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.sendto(b'leak', ('127.0.0.1', int(udp)))
for path in ('/etc/x', '/usr/x', '/x', '/proc/sys/kernel/core_pattern', '/sys/x'):
    attempt('write ' + path, write(path))
attempt('write outside', write(outside + '/made'))
attempt('read outside', read(outside + '/secret'))
attempt('read shadow', read('/etc/shadow'))
attempt('chmod outside', lambda: os.chmod(outside + '/secret', 0o777))
attempt('chown outside', lambda: os.chown(outside + '/secret', os.getuid(), os.getgid()))
attempt('utime outside', lambda: os.utime(outside + '/secret', (1, 1)))
attempt('xattr outside', lambda: os.setxattr(outside + '/secret', 'user.x', b'x'))
attempt('chmod device', lambda: os.chmod('/dev/null', 0o666))
if 'PAWL_IN_CONTAINER' not in os.environ:  # there the node is the container's own
    attempt('utime device', lambda: os.utime('/dev/null'))
attempt('tcp host', stream(socket.AF_INET, ('127.0.0.1', int(tcp))))
attempt('tcp world', stream(socket.AF_INET, ('1.1.1.1', 443)))
attempt('udp host', datagram)
attempt('unix path', stream(socket.AF_UNIX, unix_path))
attempt('unix abstract', stream(socket.AF_UNIX, '\0' + abstract))
attempt('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt('vsock', lambda: socket.socket(40, socket.SOCK_STREAM, 0))
for name in ('environ', 'mem', 'maps', 'cmdline', 'cwd/x', 'root/etc/shadow', 'fd/0'):
    attempt('host ' + name, read('/proc/%s/%s' % (host, name)))
attempt('signal host', lambda: os.kill(int(host), 0))
attempt('stop host group', lambda: os.killpg(int(host), 0))
for name, value in (('ptrace', 101), ('bpf', 321), ('keyctl', 250), ('add_key', 248),
                    ('userfaultfd', 323), ('io_uring_setup', 425), ('perf_event_open', 298),
                    ('kexec_load', 246), ('open_by_handle_at', 304), ('process_vm_readv', 310),
                    ('process_vm_writev', 311), ('mount', 165), ('umount2', 166),
                    ('pivot_root', 155), ('chroot', 161), ('open_tree', 428), ('fsopen', 430),
                    ('move_mount', 429), ('setns', 308), ('init_module', 175), ('swapon', 167),
                    ('reboot', 169), ('iopl', 172), ('clone3', 435), ('openat2', 437),
                    ('pidfd_getfd', 438), ('unknown', 599), ('x32', 0x40000000 + 39)):
    if name == 'x32' and 'PAWL_IN_CONTAINER' in os.environ: continue  # it would die of it
    attempt(name, call(value, 0, 0, 0, 0, 0))
for name, flag in (('user', 0x10000000), ('mount', 0x20000), ('pid', 0x20000000), ('net', 0x40000000)):
    attempt('unshare ' + name, call(272, flag))
    attempt('clone ' + name, call(56, flag | 17, 0, 0, 0, 0))
def tiocsti():
    fcntl.ioctl(0, 0x5412, b'x')
attempt('tiocsti', tiocsti)
attempt('tty', read('/dev/tty'))
for fd in range(3, 64):
    try:
        fcntl.fcntl(fd, fcntl.F_GETFD)
        print('descriptor %d=ok' % fd)
    except OSError:
        pass
open('tool', 'w').write('x')
attempt('chmod setuid', lambda: os.chmod('tool', 0o4755))
attempt('open setuid', lambda: os.open('made', os.O_CREAT | os.O_WRONLY, 0o6777))
attempt('mknod', lambda: os.mknod('node', 0o20666, os.makedev(1, 3)))
attempt('setuid root', lambda: os.setuid(0))
print('core=%d' % resource.getrlimit(resource.RLIMIT_CORE)[1])
print('uid=%d' % os.getuid())
attempt('write inside', write('inside'))
attempt('pair', lambda: socket.socketpair())
)python";

}  // namespace pawl::backend
