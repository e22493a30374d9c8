#!/usr/bin/env python3
"""Times the start of the program: bench/cold_start.py PROGRAM. Medians of 20, in milliseconds.

The first model call of a run is made when its first record is durable; the first line of --json is
printed at that moment. What an empty process costs here (/bin/true) is printed beside it.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

SAMPLES = 20
FILES = {
    "cold.yaml": "name: cold\nmodel: scripted/cold.script.yaml\ninstructions: Say hello.\n",
    "cold.script.yaml": "replies:\n  - text: Hello.\n",
}


def until_end(command, directory):
    start = time.perf_counter()
    subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   check=True)
    return (time.perf_counter() - start) * 1000


def until_first_line(command, directory):
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        first = process.stdout.readline()
        taken = (time.perf_counter() - start) * 1000
        process.stdout.read()
    if process.returncode != 0 or b"run_started" not in first:
        sys.exit(f"{' '.join(command)}: {first!r}, exit code {process.returncode}")
    return taken


def measure_all(program, directory):
    for name, text in FILES.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)
    store = ["--data", os.path.join(directory, "store")]
    run = [program, "run", "cold.yaml", "--json", *store]
    until_end(run, directory)  # makes the store
    for what, measure, command in [
        ("/bin/true", until_end, ["/bin/true"]),
        ("pawl --version", until_end, [program, "--version"]),
        ("pawl ls", until_end, [program, "ls", *store]),
        ("pawl run, to its first model call", until_first_line, run),
        ("pawl run, to its end", until_end, run),
    ]:
        taken = [measure(command, directory) for _ in range(SAMPLES)]
        print(f"{what:36} {statistics.median(taken):6.1f} ms "
              f"(best {min(taken):.1f}, worst {max(taken):.1f})")


def main():
    with tempfile.TemporaryDirectory(prefix="pawl-cold-") as directory:
        measure_all(os.path.abspath(sys.argv[1]), directory)


main()
