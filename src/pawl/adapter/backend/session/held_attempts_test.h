// A program that tries to change what it may only read, and to read what is hidden, each by every
// way that the kernel has: older versions of Landlock know no truncate, no moves and no requests,
// so that mounts must hold alone. Run inside a sandbox by held_attacks_test.cc, behind
// kAttemptsBegin.
#pragma once

namespace pawl::backend {

// argv: files that are read-only, ":", files that are hidden, ":", a second write root
inline constexpr const char* kHeldAttempts = R"python(
import mmap, fcntl, struct
words = sys.argv[1:]
read_only, hidden = words[:words.index(':')], words[words.index(':') + 1:]
hidden, second = hidden[:hidden.index(':')], hidden[-1]
def text(value):
    return ctypes.c_char_p(os.fsencode(value))
def again(fd):
    return '/proc/self/fd/%d' % fd
def reader(path):
    return os.open(path, os.O_RDONLY)
def source():
    with open('mine', 'w') as file: file.write('evil')
    return os.open('mine', os.O_RDONLY)
def mapped(path, later):
    page = libc.mmap
    page.restype, page.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    at = page(None, 4096, 1 if later else 3, mmap.MAP_SHARED, reader(path), 0)
    if at == ctypes.c_void_p(-1).value: raise OSError(ctypes.get_errno(), 'x')
    if later: number(10, at, 4096, 3)
    ctypes.memmove(at, b'evil', 4)
def spliced(path):
    end, begin = os.pipe()
    os.write(begin, b'evil')
    number(275, end, 0, reader(path), 0, 4, 0)
def tmpfile(path):
    fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(fd, b'evil')
    os.unlink(path)
    os.link(again(fd), path, follow_symlinks=True)
def moved(path):
    source()
    os.rename('mine', path)
def exchanged(path, above):
    place = os.path.dirname(path) if above else path
    os.makedirs('evil', exist_ok=True) if above else source()
    number(316, -100, text('evil' if above else 'mine'), -100, text(place), 2)
for path in read_only:
    tries = {
        'truncate': lambda: os.truncate(path, 0),
        'truncate, opened anew': lambda: os.truncate(again(reader(path)), 0),
        'truncate by a path descriptor': lambda: os.truncate(again(os.open(path, os.O_PATH)), 0),
        'ftruncate': lambda: os.ftruncate(reader(path), 0),
        'open and truncate': lambda: os.open(path, os.O_RDONLY | os.O_TRUNC),
        'create and truncate': lambda: os.open(path, os.O_CREAT | os.O_TRUNC | os.O_RDONLY),
        'append': lambda: os.open(path, os.O_WRONLY | os.O_APPEND),
        'write, opened anew': lambda: os.open(again(reader(path)), os.O_RDWR),
        'write by a path descriptor': lambda: os.open(again(os.open(path, os.O_PATH)), os.O_WRONLY),
        'write at': lambda: os.pwrite(reader(path), b'evil', 0),
        'punch a hole': call(285, reader(path), 3, 0, 4096),
        'copy_file_range': lambda: os.copy_file_range(source(), reader(path), 4),
        'sendfile': lambda: os.sendfile(reader(path), source(), 0, 4),
        'splice': lambda: spliced(path),
        'clone': lambda: fcntl.ioctl(reader(path), 0x40049409, source()),
        'shared memory': lambda: mapped(path, False),
        'shared memory, later': lambda: mapped(path, True),
        'replace': lambda: moved(path),
        'replace, unnamed': lambda: tmpfile(path),
        'remove': lambda: os.unlink(path),
        'move away': lambda: os.rename(path, 'gone'),
        'move to the second root': lambda: os.rename(path, second + '/gone'),
        'link': lambda: os.link(path, 'other-name'),
        'link in the second root': lambda: os.link(path, second + '/other-name'),
        'exchange': lambda: exchanged(path, False),
        'exchange what is above': lambda: exchanged(path, True),
        'move what is above': lambda: os.rename(os.path.dirname(path), 'gone-too'),
        'make beside': lambda: os.open(os.path.dirname(path) + '/../' + os.path.basename(os.path.dirname(path)) + '/.envrc/x', os.O_CREAT | os.O_WRONLY),
        'mode': lambda: os.chmod(path, 0o777),
        'mode by descriptor': lambda: os.fchmod(reader(path), 0o777),
        'owner': lambda: os.chown(path, os.getuid(), os.getgid()),
        'times': lambda: os.utime(path, (1, 1)),
        'attribute': lambda: os.setxattr(path, 'user.x', b'x'),
        'attribute by descriptor': lambda: os.setxattr(reader(path), 'user.x', b'x'),
        'flags': lambda: fcntl.ioctl(reader(path), 0x40086602, struct.pack('q', 0x40)),
        'lease': lambda: fcntl.fcntl(reader(path), 1024, fcntl.F_WRLCK),
        'unmount': call(166, text(path), 2),
        'mount anew': call(165, 0, text(path), 0, 32 | 4096, 0),
        'mount over': call(165, text('mine'), text(path), 0, 4096, 0),
    }
    for name, action in tries.items():
        attempt('%s: %s' % (name, path), action)
for path in hidden:
    tries = {
        'read': lambda: os.read(reader(path), 16) or os.open('/no/such', 0),
        'read by a path descriptor': lambda: os.read(os.open(again(os.open(path, os.O_PATH)), os.O_RDONLY), 16) or os.open('/no/such', 0),
        'run': lambda: os.execv(path, ['x']),
        'write': lambda: os.open(path, os.O_WRONLY),
        'truncate': lambda: os.truncate(path, 0),
        'link': lambda: os.link(path, 'shown'),
        'move away': lambda: os.rename(path, 'shown'),
        'mode': lambda: os.chmod(path, 0o777),
        'replace': lambda: moved(path),
        'unmount': call(166, text(path), 2),
    }
    for name, action in tries.items():
        attempt('%s hidden: %s' % (name, path), action)
)python";

}  // namespace pawl::backend
