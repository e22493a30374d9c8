"""Who reaches around whom: surfaces around the service, rooms around adapters."""

import re

from .layers import MIDDLE
from .source import Finding

EXCEPTIONS = "tools/tidy_reach.txt"
# Of the operating system, not of C or C++.
SYSTEM = re.compile(r"(sys|linux|arpa|netinet|net|asm)/|"
                    r"(unistd|fcntl|poll|pwd|grp|signal|spawn|dirent|termios|dlfcn|sched|netdb"
                    r"|ifaddrs|pthread|syslog|ftw|utime)\.h$")
NEAR_THE_SYSTEM = {"adapter", "app"}


def exceptions(tree):
    """{(kind, subject): line} of lines such as "surface gate/x.h: why"."""
    file = tree.by_path.get(EXCEPTIONS)
    found = {}
    for number, line in enumerate(file.lines if file else [], 1):
        match = re.match(r"(surface|system) (\S+): \S", line)
        if match:
            found[match.group(1), match.group(2)] = number
    return found


def group_of(file):
    return file.layer.split("/")[0] if file.layer else None


def reached_by_surfaces(tree):
    for file in tree.sources:
        if group_of(file) != "surface":
            continue
        for line, name, _ in file.includes:
            parts = name.split("/")
            if parts[0] == "pawl" and len(parts) > 2 and parts[1] in MIDDLE:
                yield "surface", "/".join(parts[1:]), file, line


def system_headers(tree):
    for file in tree.sources:
        if group_of(file) in NEAR_THE_SYSTEM | {None}:
            continue
        for line, name, quoted in file.includes:
            if not quoted and SYSTEM.match(name):
                yield "system", file.path, file, line


WORDS = {
    "surface": ("a surface includes {subject}",
                "surfaces ask the service, which others can ask too",
                "offer it in service, and include that"),
    "system": ("a header of the operating system in {subject}",
               "the simulator and other hosts have no such system",
               "put it behind a port, into an adapter"),
}


def reach(tree):
    known, used = exceptions(tree), set()
    for kind, subject, file, line in [*reached_by_surfaces(tree), *system_headers(tree)]:
        used.add((kind, subject))
        if (kind, subject) not in known:
            what, why, instead = WORDS[kind]
            yield Finding("reach", file.path, line, what.format(subject=subject), why, instead)
    for (kind, subject), line in known.items():
        if (kind, subject) not in used:
            yield Finding("reach", EXCEPTIONS, line, f"nobody needs {kind} {subject} any more",
                          "the list is only worth what is on it", "delete the line")


def engine_behind_service(tree):
    for file in tree.sources:
        if group_of(file) != "surface":
            continue
        for match in re.finditer(r"[.>]\s*engine\(\)", file.code):
            yield Finding("reach", file.path, file.line_of(match.start()),
                          "a surface asks the service for its engine",
                          "what it does there no other surface can ask for",
                          "offer it in service")
