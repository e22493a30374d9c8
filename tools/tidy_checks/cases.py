"""The tables that say which test holds which case: docs/notes/cases."""

import re

from tidy_checks.source import Finding

# src/pawl/x_test.cc: "name of the test"
REFERENCE = re.compile(r'((?:src|tests)/[\w./-]+\.(?:cc|py|h|sh))(?:`?: *`?"([^"|]+)")?')


def is_table(file):
    return file.path.startswith("docs/notes/cases/")


def fault_of(tree, path, name):
    target = tree.by_path.get(path)
    if target is None:
        return f"there is no {path}"
    if name and name not in target.text.replace('\\"', "'"):
        return f'{path} has no test "{name}"'
    return None


def held_by(tree):
    for file in filter(is_table, tree.files):
        for number, line in enumerate(file.lines, 1):
            if not line.startswith("|"):
                continue
            for path, name in REFERENCE.findall(line):
                fault = fault_of(tree, path, name)
                if fault:
                    yield Finding("held-by", file.path, number, fault,
                                  "a case that no test holds must say so",
                                  "name the test that tries it, or write **open** and why")
