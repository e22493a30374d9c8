"""Who may see whom, and what the kernel may not touch."""

import re

from .source import Finding

SEES = {
    "base": {"base"},
    "kernel": {"base", "kernel"},
    "port": {"base", "kernel", "port"},
    "runtime": {"base", "kernel", "port", "runtime"},
    "adapter": {"base", "kernel", "port"},
    "surface": {"base", "kernel", "port", "runtime"},
    "sim": {"base", "kernel", "port", "runtime", "sim", "adapter"},
    "app": {"base", "kernel", "port", "runtime", "adapter", "surface", "sim", "app"},
}
ORDER = "surface -> runtime -> port -> kernel -> base; adapters see port, kernel and base"
# The umbrella header offers a host what the core component holds.
UMBRELLA = "src/pawl/pawl.h"


def layer_of_include(name):
    """'pawl/adapter/yaml/reader.h' is of adapter/yaml."""
    parts = name.split("/")
    if parts[0] != "pawl" or len(parts) < 3:
        return None
    deep = parts[1] in ("adapter", "surface") and len(parts) > 3
    return "/".join(parts[1:3]) if deep else parts[1]


def may_see(layer, other):
    group, other_group = layer.split("/")[0], other.split("/")[0]
    return layer == other or other_group in SEES.get(group, set())


def advice(layer, other):
    if other.startswith("adapter"):
        return "see the port it implements, and let app choose the adapter"
    return f"move what both need down, or pass it in from above ({ORDER})"


def includes(tree):
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
            other = layer_of_include(name)
            if file.layer is None or other is None or may_see(file.layer, other):
                continue
            yield Finding("layers", file.path, line, f"{file.layer} includes {name}",
                          f"{file.layer} must not see {other}", advice(file.layer, other))


def cmake_sees(tree):
    layers = {f.layer.split("/")[-1]: f.layer for f in tree.sources if f.layer}
    for file in tree.files:
        if file.name != "CMakeLists.txt" or file.layer is None:
            continue
        for call in re.finditer(r"pawl_layer\(([^)]*)\)", file.text):
            match = re.search(r"\bSEES\s+([a-z_0-9\s]+)", call.group(1))
            for name in match.group(1).split() if match else []:
                other = layers.get(name)
                if other and not may_see(file.layer, other):
                    line = file.line_of(call.start() + call.group().index(match.group()))
                    yield Finding("layers", file.path, line, f"{file.layer} links {name}",
                                  f"{file.layer} must not see {other}", advice(file.layer, other))


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
        if file.layer != "kernel":
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
