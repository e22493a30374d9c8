"""coverage_table.py BUILD DIRECTORY...: what gcov's counters in BUILD say of the sources there."""

import collections
import json
import pathlib
import subprocess
import sys


def objects(build, directories):
    """The counters of what is compiled there, tests left out: gcov takes minutes for those."""
    for directory in directories:
        for data in sorted(pathlib.Path(build, directory).rglob("*.gcda")):
            if not any(part.startswith("pawl_test_") for part in data.parts):
                yield data


def reports(build, directories):
    """gcov's own JSON, one for each object that was run."""
    for data in objects(build, directories):
        words = ["gcov", "--json-format", "--stdout", "--branch-probabilities", data.name]
        done = subprocess.run(words, cwd=data.parent, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                yield json.loads(line)


def gather(build, directories):
    """file -> line -> [times, branches taken]; what several objects hold is counted together."""
    root = pathlib.Path.cwd()
    files = collections.defaultdict(dict)
    for report in reports(build, directories):
        base = pathlib.Path(report.get("current_working_directory", root))
        for one in report["files"]:
            path = pathlib.Path(base, one["file"]).resolve()
            name = str(path.relative_to(root)) if path.is_relative_to(root) else ""
            wanted = any(name.startswith(place + "/") for place in directories)
            if not wanted or "_test" in path.name or path.suffix != ".cc":
                continue
            for line in one["lines"]:
                taken = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                seen = files[name].setdefault(line["line_number"], [0, [0] * len(taken)])
                seen[0] += line["count"]
                if len(taken) == len(seen[1]):
                    seen[1] = [a + b for a, b in zip(seen[1], taken)]
    return files


def share(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "      -"


def main():
    build, *directories = sys.argv[1:]
    files = gather(build, directories)
    if not files:
        sys.exit("coverage: nothing was counted")
    sums = collections.Counter()
    unreached = []
    print(f"{'file':58} {'lines':>13} {'branches':>15}")
    for name, lines in sorted(files.items()):
        branches = [count for _, taken in lines.values() for count in taken]
        reached = sum(times > 0 for times, _ in lines.values())
        met = sum(count > 0 for count in branches)
        place = next(one for one in directories if name.startswith(one + "/"))
        for key, value in (("lines", len(lines)), ("reached", reached),
                           ("branches", len(branches)), ("met", met)):
            sums[place, key] += value
        unreached += [f"{name}:{line}" for line, (times, _) in sorted(lines.items()) if times == 0]
        print(f"{name:58} {share(reached, len(lines))} {len(lines):5} "
              f"{share(met, len(branches))} {len(branches):6}")
    for place in directories:
        counts = {key: sums[place, key] for key in ("lines", "reached", "branches", "met")}
        print(f"coverage: {place}: lines {share(counts['reached'], counts['lines']).strip()} "
              f"of {counts['lines']}, branches "
              f"{share(counts['met'], counts['branches']).strip()} of {counts['branches']}")
    pathlib.Path(build, "unreached.txt").write_text("\n".join(unreached) + "\n")
    print(f"coverage: {len(unreached)} lines in {build}/unreached.txt")


if __name__ == "__main__":
    main()
