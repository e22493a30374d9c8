#!/usr/bin/env python3
"""tests/planted/switch.py NAME... OUT: writes the source file of these bugs with their switches.

A bug that does not fit any more is left out, and said: its case then finds nothing, which fails its
test and not the build."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SWITCH = '#include "tests/planted/planted_switch.h"\n'


def read_bugs():
    bugs = {}
    for line in (HERE / "bugs.txt").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "bug":
            bugs[rest] = bug = {"old": [], "new": []}
        elif word in ("file", "case"):
            bug[word] = rest
        elif line[:1] in "-+" and line:
            bug["old" if line[0] == "-" else "new"].append(line[1:])
    return bugs


def main():
    *names, out = sys.argv[1:]
    bugs = read_bugs()
    text = (ROOT / bugs[names[0]]["file"]).read_text()
    for name in names:
        old, new = ("\n".join(bugs[name][part]) for part in ("old", "new"))
        if text.count(old) != 1:
            print(f"{name} does not fit {bugs[name]['file']}: write it anew in bugs.txt",
                  file=sys.stderr)
            continue
        text = text.replace(old, new)
    pathlib.Path(out).write_text(SWITCH + text)


if __name__ == "__main__":
    main()
