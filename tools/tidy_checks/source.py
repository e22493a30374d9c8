"""The tree of files as the checks see it."""

import dataclasses
import functools
import os
import re

# Generated, foreign or recorded files: their shape is not ours to choose.
SKIPPED_DIRECTORIES = {".git", "build", "data", "golden", "__pycache__", "node_modules", ".cache"}
TEXT_SUFFIXES = (".h", ".cc", ".py", ".sh", ".cmake", ".txt", ".md", ".in", ".json", ".yaml",
                 ".yml", ".ts", ".tsx")
TEXT_NAMES = {"pawl", "test", "run", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore"}


@dataclasses.dataclass(frozen=True)
class Finding:
    check: str
    path: str
    line: int
    what: str
    why: str
    instead: str

    def __str__(self):
        return (f"{self.path}:{self.line}: [{self.check}] {self.what}. "
                f"Why: {self.why}. Instead: {self.instead}.")


# A comment, a raw string, a string, or a character; the quote in 1'000 is none of these.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.DOTALL)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


class File:
    def __init__(self, root, path):
        self.path = path
        self.absolute = os.path.join(root, path)
        with open(self.absolute, encoding="utf-8", errors="replace") as stream:
            self.text = stream.read()
        self.lines = self.text.split("\n")
        self.name = os.path.basename(path)
        self.directory = os.path.dirname(path)

    @property
    def is_cpp(self):
        return self.name.endswith((".h", ".cc"))

    @property
    def is_test(self):
        """x_test.cc, x_test_support.h, and all of tests/."""
        return bool(re.search(r"_test[_.]", self.name)) or self.path.startswith("tests/")

    @functools.cached_property
    def layer(self):
        """base, kernel, port, run, surface/cli, adapter/yaml, app; None outside src/pawl."""
        parts = self.directory.split("/")
        if parts[:2] != ["src", "pawl"] or len(parts) < 3:
            return None
        deep = parts[2] in ("adapter", "surface", "testing") and len(parts) > 3
        return "/".join(parts[2:4]) if deep else parts[2]

    @functools.cached_property
    def code(self):
        """The text with comments, strings and characters blanked, line for line."""
        return TOKEN.sub(lambda match: blank(match.group()), self.text)

    @functools.cached_property
    def raw_string_lines(self):
        """Numbers of the lines that lie inside a raw string: data, not code."""
        inside = set()
        for match in TOKEN.finditer(self.text):
            if match.group().startswith('R"'):
                first = self.line_of(match.start())
                inside.update(range(first, first + match.group().count("\n") + 1))
        return inside

    @functools.cached_property
    def includes(self):
        """(line, name, is_quoted) of every include."""
        pattern = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
        return [(self.line_of(m.start(2)), m.group(2), m.group(1) == '"')
                for m in pattern.finditer(self.text)]

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1


class Tree:
    def __init__(self, root):
        self.root = str(root)
        self.files = [File(self.root, path) for path in sorted(self._paths())]
        self.by_path = {file.path: file for file in self.files}

    def _paths(self):
        for directory, names, files in os.walk(self.root):
            names[:] = [n for n in names if n not in SKIPPED_DIRECTORIES]
            for name in files:
                path = os.path.relpath(os.path.join(directory, name), self.root)
                if name.endswith(TEXT_SUFFIXES) or name in TEXT_NAMES:
                    yield path

    @property
    def cpp(self):
        return [file for file in self.files if file.is_cpp]

    @property
    def sources(self):
        """C++ files of the product: under src/ and include/, tests left out."""
        return [f for f in self.cpp if f.path.startswith(("src/", "include/")) and not f.is_test]
