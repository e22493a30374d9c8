"""Files that are forgotten: not built, not tested, not included, out of date."""

import os
import re
import subprocess

from .source import Finding

UNTESTED = "tools/tidy_untested.txt"
ROWS = "docs/notes/rows.md"
ROOT = {"ARCHITECTURE.md", "CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json",
        "CMakeUserPresets.json", "CONTRIBUTING.md", "README.md", "SECURITY.md",
        "compile_commands.json", "pawl", "test"}


def nearest_cmake(tree, directory):
    while True:
        path = os.path.join(directory, "CMakeLists.txt")
        if path in tree.by_path:
            return tree.by_path[path]
        if not directory:
            return None
        directory = os.path.dirname(directory)


def sources_are_built(tree):
    modules = "".join(f.text for f in tree.files if f.name.endswith(".cmake"))
    for file in tree.cpp:
        cmake = nearest_cmake(tree, file.directory)
        if file.name.endswith(".h") or cmake is None or f"/{file.path}" in modules:
            continue
        name = os.path.relpath(file.path, cmake.directory or ".")
        if not re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w.-])", cmake.text):
            yield Finding("unbuilt", file.path, 1, f"not in {cmake.path}",
                          "a file that nobody compiles rots", "list it, or delete it")
    root = tree.by_path.get("CMakeLists.txt")
    for file in tree.files:
        if root and file.name == "CMakeLists.txt" and file.layer:
            if not re.search(rf"\({re.escape(file.directory)}\)", root.text):
                yield Finding("unbuilt", file.path, 1, "a directory that the root does not name",
                              "the root CMakeLists.txt is the map of the architecture",
                              f"add pawl_directory({file.directory})")


TYPE = re.compile(r"^(?:struct|class) (\w+)(?: final)?(?: :[^{;]*)? \{", re.MULTILINE)


def one_definition(tree):
    """Types of headers, by namespace and name."""
    first = {}
    for file in tree.sources:
        if not file.name.endswith(".h") or file.is_test:
            continue
        space = re.search(r"^namespace ([\w:]+) \{", file.text, re.MULTILINE)
        for found in TYPE.finditer(file.text):
            name = f"{space.group(1) if space else ''}::{found.group(1)}"
            line = file.text.count("\n", 0, found.start()) + 1
            other = first.setdefault(name, file.path)
            if other != file.path:
                yield Finding("one-definition", file.path, line, f"{name} is in {other} too",
                              "two types of one name share their destructor in one program",
                              "give one of them another name, or a namespace of its own")


def has_test(tree, file):
    """json_parse.cc is tested by json_parse_test.cc, or as a part of its noun by json_test.cc."""
    stem = file.name[:-len(".cc")]
    while stem:
        if os.path.join(file.directory, f"{stem}_test.cc") in tree.by_path:
            return True
        stem = stem.rpartition("_")[0]
    return False


def excused(tree):
    """{path: (line, reason)} of the list of files without a test."""
    listing = tree.by_path.get(UNTESTED)
    entries = {}
    for number, line in enumerate(listing.lines if listing else [], 1):
        if line.strip() and not line.startswith("#"):
            path, _, reason = line.partition(":")
            entries[path.strip()] = (number, reason.strip())
    return entries


def sources_are_tested(tree):
    reasons = excused(tree)
    for file in tree.sources:
        if file.name.endswith(".cc") and not has_test(tree, file) and file.path not in reasons:
            yield Finding("untested", file.path, 1, "no test beside it",
                          "what is not tested does not work for long",
                          f"write {file.name[:-3]}_test.cc, or give a reason in {UNTESTED}")
    tests = {file.name for file in tree.cpp}
    for path, (line, reason) in reasons.items():
        for test in set(re.findall(r"\b\w+_test\.cc\b", reason)) - tests:
            yield Finding("untested", UNTESTED, line, f"there is no {test}",
                          "the list is only worth its reasons", "name the test that covers it")
        stale = path not in tree.by_path or has_test(tree, tree.by_path[path])
        if stale or not reason:
            what = f"{path} is gone or has a test" if stale else f"{path} has no reason"
            yield Finding("untested", UNTESTED, line, what, "the list is only worth its reasons",
                          "delete the line" if stale else "write why after the colon")


def dead_headers(tree):
    included = {name for file in tree.cpp for _, name, _ in file.includes}
    for file in tree.sources:
        name = file.path.partition("/")[2]
        public = file.path.startswith("include/") or name == "pawl/pawl.h"  # hosts include it
        if file.name.endswith(".h") and name not in included and not public:
            yield Finding("dead", file.path, 1, "a header that nobody includes",
                          "dead code is read and kept for nothing", "delete it")


def stray_files(tree):
    for file in tree.files:
        if not file.directory and not file.name.startswith(".") and file.name not in ROOT:
            yield Finding("dead", file.path, 1, "a file in the root that nothing is known of",
                          "the root is what a newcomer reads first",
                          "delete it, move it, or list it in tools/tidy_checks/tree.py")


def rows_name_tests(tree):
    """A row is held by tests that exist: "sentence" of a test case, or test_name of a script."""
    rows = tree.by_path.get(ROWS)
    if rows is None:
        return
    tests = "".join(f.text for f in tree.files if re.search(r"_test\.(cc|h|py)$", f.name))
    names = set(re.findall(r'TEST_CASE\(\s*"([^"]+)"', tests))
    names |= set(re.findall(r"def (test_\w+)", tests))
    for number, line in enumerate(rows.text.split("\n"), 1):
        if not line.startswith("| "):
            continue
        for name in re.findall(r'"([^"]+)"', line) + re.findall(r"\b(test_\w+)", line):
            if name not in names:
                yield Finding("stale", ROWS, number, f"there is no test '{name}'",
                              "a row is held by a test or is open", "name the test there is")


def one_title(tree):
    for file in tree.files:
        if not file.name.endswith(".md"):
            continue
        prose = re.sub(r"^(```|~~~).*?^\1[^\n]*$", lambda m: re.sub(r"[^\n]", "", m.group()),
                       file.text, flags=re.M | re.S)
        titles = [n for n, line in enumerate(prose.split("\n"), 1) if re.match(r"# \S", line)]
        if len(titles) != 1:
            line = titles[1] if titles else 1
            yield Finding("title", file.path, line, f"{len(titles)} titles",
                          "a document has one subject", "exactly one line that starts with '# '")


def fresh_transitions(tree, program):
    """docs/transitions.md must hold what the program prints, as it prints it."""
    path = "docs/transitions.md"
    document = tree.by_path.get(path)
    if document is None and not program.exists():
        return
    if not program.exists():
        yield Finding("stale", path, 1, f"{program.name} is not built, so nothing checks this",
                      "a table that is not compared goes stale", "build it")
        return
    table = subprocess.run([str(program)], stdout=subprocess.PIPE, timeout=60, check=True,
                           encoding="utf-8").stdout.strip()
    if document is None or table not in document.text:
        yield Finding("stale", path, 1, f"not what {program.name} prints",
                      "the code is the table; the document must follow",
                      f"put the output of {program.name} into it")
