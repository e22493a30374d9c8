#!/usr/bin/env python3
"""Writes docs/performance.md from what bench/run printed:

    bench/run --peers > figures.txt
    bench/page.py figures.txt > docs/performance.md

The page has what was measured and nothing else: what a goal's figure was not printed for is "not
measured", and what misses its goal is listed first.
"""

import re
import sys

STEPS = re.compile(
    r"(?P<runs>\d+) runs of (?P<steps>\d+) steps, (?P<at_once>\d+) at a time, results of "
    r"(?P<bytes>\d+) bytes, (?P<store>memory|SQLite): (?P<us>[\d.]+) us of CPU a step; "
    r"libcurl alone "
    r"(?P<curl>[\d.]+) us a request; ratio (?P<ratio>[\d.]+); floor (?P<floor>[\d.]+) us")
PEER = re.compile(
    r"(?P<peer>AI SDK [\d.]+): \d+ runs of (?P<steps>\d+) steps, (?P<at_once>\d+) at a time, "
    r"results of (?P<bytes>\d+) bytes: (?P<us>[\d.]+) us")
GROWTH = re.compile(r"one run of \d+ steps, (?P<store>memory|SQLite), results of \d+ bytes")
STEP = re.compile(r"step (?P<step>\d+): (?P<us>\d+) us of CPU, (?P<wall>\d+) us, "
                  r"(?P<bytes>\d+) bytes written; (?P<kib>\d+) KiB")
LIKE = re.compile(r"a request like that of step (?P<step>\d+): libcurl alone (?P<curl>\d+) us "
                  r"of CPU; floor (?P<floor>\d+) us")
MACHINE = re.compile(r"(?P<size>\d+) (?P<what>workers|items|runs|messages)\b.*?: "
                     r"(?P<us>[\d.]+) us of CPU a step; as separate runs (?P<separate>[\d.]+) us; "
                     r"ratio (?P<ratio>[\d.]+)")
LONGEST = re.compile(r"longest callback (?P<ms>[\d.]+) ms")
LIVE = re.compile(r"a run of (?P<steps>\d+) steps(?P<taken>, taken up)? on SQLite")
DURABLE_HEAD = re.compile(r"(?P<runs>\d+) runs at once x (?P<steps>\d+) steps")
DURABLE = re.compile(r"\| (?P<what>[\w ,]+?) +\| +(?P<rate>\d+) \|[^|]*\| +(?P<share>[\d.]+) \| +"
                     r"(?P<us>[\d.]+) \| +(?P<disk>\d+) \| +(?P<calls>\d+) \|")
COLD = re.compile(r"(?P<what>/bin/true|pawl .*?) +(?P<ms>[\d.]+) ms \(best (?P<best>[\d.]+)")
SIZED = {"64/10": (64, 10, 200), "64/50": (64, 50, 200), "1/100": (1, 100, 200),
         "20 KB": (1, 100, 20000)}


class Figures:
    """What the lines say, by what they are about."""

    def __init__(self, text):
        self.head, self.steps, self.peers, self.growth, self.like = [], {}, {}, {}, {}
        self.machines, self.longest, self.durable, self.cold = [], {}, {}, {}
        self.rest, self.skipped = [], []
        self.title = self.store = self.live = self.runs = None
        for line in text.splitlines():
            self.take(line)

    def take(self, line):
        if line.startswith("== "):
            self.title = line[3:]
            self.rest.append((self.title, []))
            return
        if self.title == "machine" and line:
            self.head.append(line)
        elif not self.take_wire(line) and not self.take_other(line) and line and self.rest:
            self.rest[-1][1].append(line)

    def take_wire(self, line):
        if found := STEPS.match(line):
            key = (int(found["at_once"]), int(found["steps"]), int(found["bytes"]))
            self.steps[key, found["store"]] = found
        elif found := PEER.match(line):
            key = (int(found["at_once"]), int(found["steps"]), int(found["bytes"]))
            self.peers[key] = found
        elif found := GROWTH.match(line):
            self.store = found["store"]
        elif found := STEP.match(line):
            self.growth[int(found["step"]), self.store] = found
        elif found := LIKE.match(line):
            self.like[int(found["step"])] = found
        else:
            return False
        return True

    def take_other(self, line):
        if found := LIVE.match(line):
            self.live = ("taken up" if found["taken"] else "beside", int(found["steps"]))
        elif (found := LONGEST.search(line)) and self.live:
            before = self.longest.get(self.live, 0)
            self.longest[self.live] = max(before, float(found["ms"]))
        elif found := MACHINE.match(line):
            self.machines.append(found)
        elif found := DURABLE_HEAD.match(line):
            self.runs = (int(found["runs"]), int(found["steps"]))
        elif (found := DURABLE.match(line)) and self.runs and "emulated" not in (self.title or ""):
            self.durable.setdefault((self.runs, self.title), {})[found["what"].strip()] = found
        elif found := COLD.match(line):
            self.cold[found["what"].strip()] = found
        elif line.startswith("skipped:"):
            self.skipped.append(line)
        else:
            return bool(re.match(r"\|[ -]", line))
        return True


def value_of(found, name):
    return None if found is None else float(found[name])


def durable_of(figures, runs, steps, what, name):
    for (size, title), rows in figures.durable.items():
        if size == (runs, steps) and title.startswith("durable runs") and what in rows:
            return float(rows[what][name])
    return None


def goals(figures):
    """(what, measured or None, must, unit, is at least): those of the project's plan."""
    def step(name, store):
        return figures.steps.get((SIZED[name], store))

    alone = durable_of(figures, 1, 500, "durable", "calls")
    raw = durable_of(figures, 1, 500, "raw SQLite", "calls")
    rate = durable_of(figures, 64, 100, "durable", "rate")
    bare = durable_of(figures, 64, 100, "raw SQLite", "rate")
    rows = [
        ("CPU a step, 64 at a time, 10 steps", value_of(step("64/10", "memory"), "ratio"), 2.5,
         "× libcurl alone", False),
        ("CPU a step, 64 at a time, 50 steps", value_of(step("64/50", "memory"), "ratio"), 2.5,
         "× libcurl alone", False),
        ("one run of 100 in memory", value_of(step("1/100", "memory"), "ratio"), 2.5,
         "× libcurl alone", False),
        ("one run of 100 on SQLite", value_of(step("1/100", "SQLite"), "ratio"), 4.5,
         "× libcurl alone", False),
        ("one run of 100, results of 20 KB, SQLite", value_of(step("20 KB", "SQLite"), "us"), 1400,
         "µs", False),
        ("durable CPU a step, 64 at a time, 10 steps", value_of(step("64/10", "SQLite"), "us"), 90,
         "µs", False),
        ("the 1,000th step on SQLite", value_of(figures.growth.get((1000, "SQLite")), "us"), 400,
         "µs", False),
        ("the 10,000th step on SQLite", value_of(figures.growth.get((10000, "SQLite")), "us"), 2000,
         "µs", False),
        ("longest callback beside 63 runs, one long", figures.longest.get(
            max((k for k in figures.longest if k[0] == "beside"), default=None)), 2, "ms", False),
        ("longest callback while one of 10,000 steps is taken up",
         figures.longest.get(("taken up", 10000)), 2, "ms", False),
        ("bytes written by one run alone", alone / raw if alone and raw else None, 1.1,
         "× raw SQLite", False),
        ("durable steps/s, 64 × 100, scripted", rate / bare if rate and bare else None, 0.5,
         "× raw SQLite", True),
        ("`pawl --version`", value_of(figures.cold.get("pawl --version"), "best"), 3,
         "ms, best of 20", False),
    ]
    for what, sizes in (("workers", 1000), ("items", 10000), ("runs", 100), ("messages", 2000)):
        found = [one for one in figures.machines
                 if one["what"] == what and int(one["size"]) == sizes]
        ratio = value_of(found[0], "ratio") if found else None
        rows.append((f"{sizes:,} {MACHINE_WORDS[what]}", ratio, 1.5, "× separate runs", False))
    return rows


MACHINE_WORDS = {"workers": "workers in one run", "items": "items of a map", "runs": "subagents",
                 "messages": "messages in one conversation"}


def verdict(measured, must, at_least):
    if measured is None:
        return "not measured"
    return "met" if (measured >= must if at_least else measured <= must) else "**missed**"


def number(value):
    return "–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def goals_part(figures):
    rows = goals(figures)
    missed = [row[0] for row in rows if "missed" in verdict(row[1], row[2], row[4])]
    unknown = [row[0] for row in rows if row[1] is None]
    text = "## Goals\n\n"
    text += f"Missed: {'; '.join(missed) if missed else 'nothing that was measured'}.\n"
    if unknown:
        text += f"Not measured in this run: {'; '.join(unknown)}.\n"
    text += "\n" + table(["what", "measured", "must", ""],
                         [(what, f"{number(measured)} {unit}" if measured is not None else "–",
                           f"{'at least' if at_least else 'at most'} {must:,} {unit}",
                           verdict(measured, must, at_least))
                          for what, measured, must, unit, at_least in rows])
    return text


def wire_part(figures):
    rows = []
    for (key, store), found in figures.steps.items():
        peer = figures.peers.get(key)
        beside = f"{float(peer['us']):,.0f} ({peer['peer']}, keeps nothing)" if peer else "–"
        rows.append((f"{key[0]} at a time, {key[1]} steps, results of {key[2]:,} bytes", store,
                     found["us"], found["curl"], found["floor"], found["ratio"],
                     beside))
    text = "## Over the wire\n\nCPU of the process in µs a step, the least of the rounds, all "
    text += "against one server in turn: Pawl, libcurl alone with\nrequests as large as those in "
    text += "the middle of such a run, bare sockets with the same (the floor), and a peer.\n\n"
    text += table(["runs", "store", "Pawl", "libcurl", "floor", "ratio to libcurl", "peer"], rows)
    text += "".join(f"\n{line}\n" for line in figures.skipped)
    growth = []
    for step in sorted({step for step, _ in figures.growth}):
        like = figures.like.get(step)
        cells = [figures.growth.get((step, store)) for store in ("memory", "SQLite")]
        growth.append((f"{step:,}", *(f"{int(one['us']):,}" if one else "–" for one in cells),
                       like["curl"] if like else "–", like["floor"] if like else "–"))
    text += "\nA step of one run by its number, results of 200 bytes, beside a request of that "
    text += "size:\n\n"
    return text + table(["step", "memory", "SQLite", "libcurl", "floor"], growth)


def loop_part(figures):
    rows = [(f"{'a run of' if how == 'beside' else 'taking up a run of'} {steps:,} steps", ms)
            for (how, steps), ms in figures.longest.items()]
    return ("## The loop\n\nThe longest callback, by CPU of its thread, with 63 other runs of ten "
            "steps:\n\n" + table(["beside them", "ms"], rows))


def machine_part(figures):
    rows = [(f"{int(one['size']):,} {MACHINE_WORDS[one['what']]}", one["us"], one["separate"],
             one["ratio"]) for one in figures.machines]
    head = ["what", "machine", "separate", "ratio"]
    return ("## Machines\n\nCPU a step in µs, scripted, in memory, beside the same work as "
            "separate runs of one node:\n\n" + table(head, rows))


def durable_part(figures):
    rows = []
    for ((runs, steps), title), ways in figures.durable.items():
        for what, found in ways.items():
            rows.append((f"{runs} × {steps}", "280 µs a sync" if "280" in title else
                         "reads" if "reads" in title else "", what, f"{int(found['rate']):,}",
                         found["us"], found["disk"], found["calls"]))
    head = ["runs × steps", "", "way", "steps/s", "CPU µs", "bytes to disk", "by write()"]
    return "## Durable steps, scripted\n\n" + table(head, rows)


def rest_part(figures):
    text = ""
    for title, lines in figures.rest:
        if title != "machine" and lines:
            body = "\n".join(line[:160].rstrip() for line in lines)
            text += f"### {title}\n\n```\n{body}\n```\n\n"
    return "## What else was printed\n\n" + text if text else ""


HEAD = """# Performance

Generated from the output of `bench/run --peers` by `bench/page.py`; it is not edited by hand.
Absolute figures are the machine's: what counts are ratios between things that were measured in
turn. What was tried, and how the figures came about until 2026-11-19, is in
[notes](notes/performance-until-2026-11-19.md)."""


def page(text):
    figures = Figures(text)
    parts = [HEAD + "\n\n"
             + "\n".join(f"- {line}" for line in figures.head) + "\n", goals_part(figures)]
    if figures.steps:
        parts.append(wire_part(figures))
    if figures.longest:
        parts.append(loop_part(figures))
    if figures.machines:
        parts.append(machine_part(figures))
    if figures.durable:
        parts.append(durable_part(figures))
    parts.append(rest_part(figures))
    return "\n".join(part for part in parts if part).rstrip() + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(page(file.read()))
