"""How long a line, a function and a file may be."""

import re

from .source import Finding, blank

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
MEASURED_SUFFIXES = (".h", ".cc", ".py", ".sh", ".cmake", ".in", ".ts", ".tsx")


def measured(file):
    return file.name.endswith(MEASURED_SUFFIXES) or file.name in ("CMakeLists.txt", "pawl", "test")


def columns(tree):
    for file in filter(measured, tree.files):
        for number, line in enumerate(file.lines, 1):
            if len(line) <= COLUMNS_MAX or "://" in line:
                continue
            if file.is_cpp and number in file.raw_string_lines:
                continue
            yield Finding("columns", file.path, number, f"{len(line)} columns",
                          f"two files fit side by side at {COLUMNS_MAX}", "break the line")


def files(tree):
    for file in filter(measured, tree.files):
        count = len(file.text.splitlines())
        if count > FILE_LINES_MAX:
            yield Finding("file-size", file.path, FILE_LINES_MAX + 1, f"{count} lines",
                          f"a file is one noun, and none needs over {FILE_LINES_MAX}",
                          "split it by noun")


def without_preprocessor(code):
    """Directives blanked, with the lines that they continue on."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: blank(m.group()), code, flags=re.M)


SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()=]*$")
ACCESS = re.compile(r"\b(public|private|protected)\s*:")


def is_function(head):
    """Whether the text before a brace heads a function, and not a type, namespace or table."""
    return ")" in head and not SCOPE.search(head) and not re.search(r"=\s*$", head)


def function_spans(code):
    """(first line, last line) of every outermost function, lambdas and all."""
    spans = []
    depth = 0          # Inside the function that is being measured.
    start = None
    head_from = 0
    for match in re.finditer(r"[{};]", code):
        brace, at = match.group(), match.start()
        if depth > 0:
            depth += {"{": 1, "}": -1, ";": 0}[brace]
            if depth == 0:
                spans.append((start, code.count("\n", 0, at) + 1))
        elif brace == "{":
            head = ACCESS.sub(lambda m: blank(m.group()), code[head_from:at])
            if is_function(head):
                offset = head_from + len(head) - len(head.lstrip())
                start = code.count("\n", 0, offset) + 1
                depth = 1
        head_from = match.end() if depth == 0 else head_from
    return spans


def functions(tree):
    for file in tree.cpp:
        for first, last in function_spans(without_preprocessor(file.code)):
            lines = last - first + 1
            if lines > FUNCTION_LINES_MAX:
                yield Finding("function-size", file.path, first, f"a function of {lines} lines",
                              f"it should fit on a screen, at most {FUNCTION_LINES_MAX}",
                              "name its parts and call them")
