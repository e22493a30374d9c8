#!/usr/bin/env python3
"""Checks the rules of this tree that a compiler does not: tools/tidy.py [--root DIR].

A line for each violation: file:line: [check] what. Why. What instead. Status 1 if there are any.
"""

import argparse
import pathlib
import sys

from tidy_checks import cases, layers, reach, sizes, tree, words
from tidy_checks.source import Tree

CHECKS = [
    layers.includes,
    layers.public_headers,
    layers.cmake_sees,
    layers.cycles,
    layers.rooms,
    layers.kernel_purity,
    reach.reach,
    reach.engine_behind_service,
    sizes.columns,
    sizes.files,
    sizes.functions,
    words.banned,
    words.vocabulary,
    words.bool_parameters,
    words.machine_paths,
    tree.one_definition,
    tree.sources_are_built,
    tree.sources_are_tested,
    tree.dead_headers,
    tree.stray_files,
    tree.rows_name_tests,
    tree.one_title,
    cases.held_by,
]


def main():
    default_root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=default_root)
    parser.add_argument("--transitions", type=pathlib.Path,
                        help="program that prints the transition table of docs/transitions.md")
    arguments = parser.parse_args()

    files = Tree(arguments.root)
    findings = [finding for check in CHECKS for finding in check(files)]
    if arguments.transitions:
        findings += tree.fresh_transitions(files, arguments.transitions)
    for finding in sorted(findings, key=lambda f: (f.path, f.line, f.check)):
        print(finding)
    if findings:
        print(f"tidy: {len(findings)} violation(s)", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
