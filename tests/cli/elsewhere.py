#!/usr/bin/env python3
"""elsewhere.py PLACE WORD... runs a program where the machine is another one:

  no-namespaces   user namespaces are forbidden, to everybody
  public          loopback is a network with a public address, where one server answers to two
                  names; what it was asked for is written to the file `served`

Exit code 77: there is no such place here. It takes no rights but to make a user namespace."""

import ctypes
import fcntl
import http.server
import os
import socket
import struct
import subprocess
import sys
import threading

CANNOT = 77
ADDRESS, PORT = "93.184.216.34", 8080  # public for the guard, and nobody's but ours in here
NAMES = ("listed.example", "other.example")
USER = 1000
NEWNS, NEWUSER, NEWNET = 0x20000, 0x10000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
SIOCSIFADDR, SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8916, 0x8913, 0x8914, 1
LIBC = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def enter(spaces):
    """As an ordinary user who keeps all rights over the new namespaces until the next exec."""
    user, group = os.geteuid(), os.getegid()
    check(LIBC.unshare(NEWUSER | spaces))
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{USER} {user} 1\n")
    write("/proc/self/gid_map", f"{USER} {group} 1\n")


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, SIOCGIFFLAGS, asked))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
        address = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(ADDRESS))
        fcntl.ioctl(control, SIOCSIFADDR, address)


def name_the_address():
    write("hosts", "127.0.0.1 localhost\n" + "".join(f"{ADDRESS} {name}\n" for name in NAMES))
    check(LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    check(LIBC.mount(b"hosts", b"/etc/hosts", None, MS_BIND, None))


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open("served", "a", encoding="ascii") as served:
            served.write(self.headers["Host"] + "\n")
        body = b"the server has answered\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run_in_public(words):
    enter(NEWNET | NEWNS)
    raise_loopback()
    name_the_address()
    server = http.server.ThreadingHTTPServer((ADDRESS, PORT), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return lambda: subprocess.run(words, check=False).returncode


def run_without_namespaces(words):
    enter(0)
    write("/proc/sys/user/max_user_namespaces", "0")
    return lambda: os.execv(words[0], words)


def main():
    place, words = sys.argv[1], sys.argv[2:]
    try:
        act = {"public": run_in_public, "no-namespaces": run_without_namespaces}[place](words)
    except OSError as error:
        print(f"this machine has no place like {place}: {error}", file=sys.stderr)
        sys.exit(CANNOT)
    sys.exit(act())


if __name__ == "__main__":
    main()
