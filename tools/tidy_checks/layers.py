"""Who may see whom, and what the kernel may not touch."""

import re

from .source import Finding

LOW = {"base", "kernel", "port"}
# Each sees LOW, and of the others those that its own CMakeLists.txt lists.
MIDDLE = {"journal", "filter", "models", "gate", "charter", "tools", "run", "assembly",
          "history", "engine"}
ROOMS = MIDDLE | {"service"}
SEES = {
    "base": {"base"},
    "kernel": {"base", "kernel"},
    "port": LOW,
    **{room: LOW | MIDDLE for room in ROOMS},
    "adapter": LOW,
    "surface": LOW | ROOMS,
    "testing": LOW | ROOMS | {"testing"},
    "library": LOW | ROOMS | {"adapter", "testing", "library"},
    "app": LOW | ROOMS | {"adapter", "surface", "testing", "app"},
}
ORDER = "base < kernel < port < rooms of the middle < service < surface < app"
# The public headers, include/pawl/NAME.h: nothing else is installed. Each belongs to the layer that
# implements it, and is seen from where that layer is seen. pawl.h is all of them.
PUBLIC = {
    "result": "base", "json": "base", "ids": "base",
    "words": "kernel", "limits": "kernel", "content": "kernel",
    "loop": "port", "tool": "port", "executor": "port", "store": "port", "backend": "port",
    "permissions": "gate", "processor": "filter", "events": "journal", "agent": "run",
    "testing": "testing/executor_scripted", "runner": "library",
    "machine": "library", "pawl": "library",
}
PUBLIC_DIRECTORY = "include/pawl"
# Groups whose folders are libraries of their own.
GROUPS = ("adapter", "surface", "testing")


def layer_of_include(name):
    """'pawl/adapter/yaml/reader.h' is of adapter/yaml, 'pawl/tool.h' of port."""
    parts = name.split("/")
    if parts[0] != "pawl" or len(parts) < 2:
        return None
    if len(parts) == 2:
        return PUBLIC.get(parts[1].removesuffix(".h"))
    deep = parts[1] in GROUPS and len(parts) > 3
    return "/".join(parts[1:3]) if deep else parts[1]


def layer_of(file):
    """As file.layer, of public headers too."""
    if file.directory == PUBLIC_DIRECTORY:
        return PUBLIC.get(file.name.removesuffix(".h"))
    return file.layer


def may_see(layer, other):
    group, other_group = layer.split("/")[0], other.split("/")[0]
    return layer == other or other_group in SEES.get(group, set())


def layer_calls(file):
    """(names that it sees, offset of the list) of each pawl_layer() in a CMakeLists.txt."""
    for call in re.finditer(r"pawl_layer\(([^)]*)\)", file.text):
        match = re.search(r"\bSEES\s+([a-z_0-9\s]+)", call.group(1))
        if match:
            yield match.group(1).split(), call.start(1) + match.start()


def neighbours(tree):
    """{room: {neighbour: line}}, as the CMakeLists.txt of each room lists them."""
    listed = {}
    for room in ROOMS:
        file = tree.by_path.get(f"src/pawl/{room}/CMakeLists.txt")
        if file is None:
            continue
        listed[room] = {name: file.line_of(offset) for names, offset in layer_calls(file)
                        for name in names}
    return listed


def is_unlisted(listed, layer, other):
    return layer in listed and other in ROOMS - {layer} and other not in listed[layer]


def advice(layer, other):
    if other.startswith("adapter"):
        return "see the port it implements, and let app choose the adapter"
    return f"move what both need down, or pass it in from above ({ORDER})"


def includes(tree):
    listed = neighbours(tree)
    for file in tree.sources:
        for line, name, quoted in file.includes:
            if quoted and not name.startswith("pawl/"):
                yield Finding("layers", file.path, line, f'include of "{name}" by a short path',
                              "the layer of an include is read from its path",
                              'write "pawl/<layer>/<file>.h"')
                continue
            if name == "pawl/pawl.h" and file.layer not in (None, "app"):
                yield Finding("layers", file.path, line,
                              f"{file.layer} includes the umbrella header",
                              "it names every layer at once",
                              "include the one header that is needed")
                continue
            other, layer = layer_of_include(name), layer_of(file)
            if layer is None or other is None:
                continue
            if not may_see(layer, other):
                yield Finding("layers", file.path, line, f"{layer} includes {name}",
                              f"{layer} must not see {other}", advice(layer, other))
            elif is_unlisted(listed, layer, other):
                yield Finding("layers", file.path, line, f"{layer} includes {name}",
                              f"its CMakeLists.txt does not list {other} under SEES",
                              "place the file better, or list it if that makes no cycle")


def public_headers(tree):
    """Hosts see these headers and no other: each stands by itself, and their list is short."""
    for file in tree.cpp:
        if not file.path.startswith("include/"):
            continue
        if file.directory != PUBLIC_DIRECTORY or file.name.removesuffix(".h") not in PUBLIC:
            yield Finding("public", file.path, 1, "a public header that nobody decided on",
                          "what hosts can include they rely on",
                          "put it into a room of src/pawl, or list it in PUBLIC of "
                          "tools/tidy_checks/layers.py, in tests/install and ARCHITECTURE.md")
        for line, name, quoted in file.includes:
            own = name.startswith("pawl/") or quoted
            if own and name.removeprefix("pawl/").removesuffix(".h") not in PUBLIC:
                yield Finding("public", file.path, line, f"a public header includes {name}",
                              "it is not installed, so no host could include this header",
                              "declare what is needed, or move values into a public header")
            elif name.startswith("boost/"):
                yield Finding("public", file.path, line, f"a public header includes {name}",
                              "every host would compile it", "declare the type")


def cmake_sees(tree):
    layers = {f.layer.split("/")[-1]: f.layer for f in tree.sources if f.layer}
    for file in tree.files:
        if file.name != "CMakeLists.txt" or file.layer is None:
            continue
        for names, offset in layer_calls(file):
            for name in names:
                other = layers.get(name)
                if other and not may_see(file.layer, other):
                    yield Finding("layers", file.path, file.line_of(offset),
                                  f"{file.layer} links {name}",
                                  f"{file.layer} must not see {other}", advice(file.layer, other))


def reached(listed, room):
    seen, todo = set(), [room]
    while todo:
        for other in listed.get(todo.pop(), {}):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def cycles(tree):
    """Each cycle of rooms once, at the first of them by name."""
    listed = neighbours(tree)
    for room, seen in sorted(listed.items()):
        back = [n for n in seen if n != room and room in reached(listed, n)]
        circle = {n for n in reached(listed, room) if room in reached(listed, n)}
        if back and room == min(circle):
            yield Finding("layers", f"src/pawl/{room}/CMakeLists.txt", max(seen[n] for n in back),
                          f"{room} and {', '.join(sorted(circle - {room}))} see each other",
                          "rooms that see each other are one room",
                          "move what both need into one below them")


ROOM_FILES_MAX = 45


def rooms(tree):
    """A room says what lives there, and no folder of it is a heap."""
    for room in sorted(ROOMS):
        top = f"src/pawl/{room}"
        inside = [f for f in tree.files if f.directory == top or f.directory.startswith(top + "/")]
        if not inside:
            continue
        if f"{top}/README.md" not in tree.by_path:
            yield Finding("room", inside[0].path, 1, f"{room} has no README.md",
                          "a stranger finds a room by what is said of it",
                          "ten lines: what lives there, what does not, where to start")
        for folder in sorted({f.directory for f in inside}):
            count = sum(1 for f in inside if f.directory == folder)
            if count > ROOM_FILES_MAX:
                yield Finding("room", f"{folder}/CMakeLists.txt", 1, f"{count} files in {folder}",
                              f"a folder has one subject and at most {ROOM_FILES_MAX} files",
                              "a subfolder for each subject")


IMPURE_HEADERS = {
    "chrono": "a clock", "ctime": "a clock", "time.h": "a clock", "random": "a random source",
    "thread": "threads", "mutex": "threads", "shared_mutex": "threads", "atomic": "threads",
    "condition_variable": "threads", "future": "threads", "semaphore": "threads",
    "stop_token": "threads", "latch": "threads", "barrier": "threads", "fstream": "files",
    "filesystem": "files", "iostream": "I/O", "unistd.h": "the operating system",
    "fcntl.h": "the operating system", "csignal": "the operating system",
}
IMPURE_CALL = re.compile(
    r"(?<![\w.>])(?:std::|::)?(time|clock|rand|srand|random|getenv|secure_getenv|fopen|fread|fwrite"
    r"|printf|fprintf|vprintf|puts|gettimeofday|clock_gettime|getpid|gethostname)\s*\(")
PURE_INSTEAD = "take it as data in an event, or ask the host for it with an effect"


# Templates that run while compiling, and nothing else.
PURE_HEADERS = {"boost/pfr/tuple_size.hpp"}


def impurity(name):
    if name in PURE_HEADERS:
        return None
    if name in IMPURE_HEADERS:
        return IMPURE_HEADERS[name]
    if name.startswith(("sys/", "boost/", "asio", "sqlite", "yaml", "curl", "openssl/", "re2/")):
        return "a library beyond the standard one"
    return None


def kernel_purity(tree):
    for file in tree.sources:
        if layer_of(file) != "kernel":
            continue
        for line, name, _ in file.includes:
            if impurity(name):
                yield Finding("purity", file.path, line, f"the kernel includes <{name}>",
                              f"it brings {impurity(name)}; a replayed run must decide the same",
                              PURE_INSTEAD)
        for match in IMPURE_CALL.finditer(file.code):
            yield Finding("purity", file.path, file.line_of(match.start(1)),
                          f"the kernel calls {match.group(1)}()",
                          "a replayed run must decide the same", PURE_INSTEAD)
