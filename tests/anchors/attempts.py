"""Run inside a sandbox by tests/anchors/run: a line `name=ok` or `name=ERROR` for each attempt."""

import ctypes
import errno
import fcntl
import os
import socket
import subprocess
import sys

home, host, tcp, udp, abstract, which = sys.argv[1:7]
libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, action):
    try:
        action()
        print(name + "=ok", flush=True)
    except OSError as error:
        print(f"{name}={errno.errorcode.get(error.errno, 'error')}", flush=True)
    except (MemoryError, subprocess.SubprocessError):
        print(name + "=limit", flush=True)


def call(number, *arguments):
    ctypes.set_errno(0)
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments]) < 0:
        raise OSError(ctypes.get_errno(), "x")


def write(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("x")


def read(path):
    with open(path, "rb") as file:
        file.read(16)


def connect(family, address):
    client = socket.socket(family, socket.SOCK_STREAM)
    client.settimeout(2)
    client.connect(address)


def send():
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect(("127.0.0.1", int(udp)))
    client.send(b"x")
    client.settimeout(0.2)
    try:
        client.recv(1)  # where nobody listens, the refusal comes back
    except socket.timeout:
        pass


def many_processes():
    children = []
    try:
        for _ in range(400):
            pid = os.fork()
            if pid == 0:
                os.execvp("sleep", ["sleep", "5"])
            children.append(pid)
    finally:
        for pid in children:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def trace():
    child = os.fork()
    if child == 0:
        try:
            call(101, 0, 0, 0, 0)  # PTRACE_TRACEME
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    error = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if error != 0:
        raise OSError(error, "x")


def much_memory():
    code = "b = bytearray(1 << 30)\nfor i in range(0, len(b), 4096): b[i] = 1"
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)


def type_into_terminal():
    fd = os.open("/dev/tty", os.O_RDWR)
    fcntl.ioctl(fd, 0x5412, b"x")


if which == "processes":
    attempt("processes at a time: 400", many_processes)
elif which == "memory":
    attempt("memory of 1 GiB", much_memory)
else:
    attempt("write a file of the home", lambda: write(home + "/outside/made"))
    attempt("write through a link in the workspace", lambda: write("link/made"))
    attempt("read ~/.ssh", lambda: read(home + "/.ssh/id"))
    attempt("tcp to the host's loopback", lambda: connect(socket.AF_INET, ("127.0.0.1", int(tcp))))
    attempt("udp to the host's loopback", send)
    attempt("unix socket in the workspace", lambda: connect(socket.AF_UNIX, "server.sock"))
    attempt("unix socket without a path (abstract)",
            lambda: connect(socket.AF_UNIX, "\0" + abstract))
    attempt("environ of a host process", lambda: read(f"/proc/{host}/environ"))
    attempt("ptrace", trace)
    attempt("io_uring", lambda: call(425, 1, ctypes.addressof(ctypes.create_string_buffer(512))))
    attempt("tiocsti", type_into_terminal)
    attempt("signal to a host process", lambda: os.kill(int(host), 0))
    attempt("git hook", lambda: write(".git/hooks/post-checkout"))
    attempt("git config", lambda: open(".git/config", "a", encoding="utf-8").close())
