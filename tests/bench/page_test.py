#!/usr/bin/env python3
"""docs/performance.md is what bench/page.py makes of bench/figures.txt, and says what is missed."""

import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

PRINTED = """
== machine
2026-11-20 01:00 UTC
commit abc1234
2 cores, A processor, Linux 6.18, tmpfs below /tmp

== whole runs against a provider over HTTP, beside libcurl alone (SQLite below /dev/shm)
1000 runs of 10 steps, 64 at a time, results of 200 bytes, memory: 40.0 us of CPU a step; \
libcurl alone 20.0 us a request; ratio 2.00; floor 6.0 us (least of 5 rounds)
10 runs of 100 steps, 1 at a time, results of 200 bytes, SQLite: 100.0 us of CPU a step; \
libcurl alone 20.0 us a request; ratio 5.00; floor 8.0 us (least of 5 rounds)
AI SDK 7.0.169: 100 runs of 10 steps, 64 at a time, results of 200 bytes: 1234.5 us of CPU a step

== a step of one run
one run of 10000 steps, SQLite, results of 200 bytes
step 1000: 300 us of CPU, 900 us, 0 bytes written; 16448 KiB at most
a request like that of step 1000: libcurl alone 89 us of CPU; floor 44 us

== the longest callback while a long run is taken up beside 63 others
a run of 10000 steps, taken up on SQLite beside 63 of 10, results of 200 bytes
before: longest callback 0.60 ms, 5005 calls, 85 us of CPU each
until it is driven: longest callback 3.10 ms, 158 calls, 247 us of CPU each

== a step of a machine
1000 workers in one run: 20.0 us of CPU a step; as separate runs 16.0 us; ratio 1.25; 11984 KiB

== durable runs beside memory and raw SQLite, results of 200 bytes
1 runs at once x 500 steps, results of 200 bytes: 1001 records, 376 bytes a step
| durable              |     4409 |     1676 to     6884 |      1.00 |   74.1 |       0 |   18296 |
| raw SQLite           |     7635 |     6462 to     7721 |      0.58 |   22.3 |       0 |   17418 |

== cold start
pawl --version                          2.9 ms (best 2.5, worst 5.0)

== the simulator
300 seeds
"""


def load_page():
    spec = importlib.util.spec_from_file_location("page", ROOT / "bench/page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = load_page()


class PageTest(unittest.TestCase):
    def setUp(self):
        self.page = PAGE.page(PRINTED)

    def row(self, beginning):
        rows = [line for line in self.page.splitlines() if line.startswith(f"| {beginning}")]
        self.assertEqual(len(rows), 1, f"{beginning}: {rows}")
        return rows[0]

    def test_it_has_date_commit_and_machine(self):
        for line in ("2026-11-20 01:00 UTC", "commit abc1234", "2 cores, A processor"):
            self.assertIn(f"- {line}", self.page)

    def test_it_says_what_is_met_missed_and_not_measured(self):
        self.assertIn("met", self.row("CPU a step, 64 at a time, 10 steps"))
        self.assertIn("| 5.00 × libcurl alone | at most 4.5 × libcurl alone | **missed** |",
                      self.row("one run of 100 on SQLite"))
        self.assertIn("not measured", self.row("one run of 100 in memory"))
        self.assertIn("3.10 ms", self.row("longest callback while one of 10,000 steps"))
        self.assertIn("1.05 × raw SQLite", self.row("bytes written by one run alone"))
        self.assertIn("| met |", self.row("1,000 workers in one run | 1.25 × separate runs"))
        missed = next(line for line in self.page.splitlines() if line.startswith("Missed: "))
        self.assertIn("one run of 100 on SQLite", missed)
        self.assertNotIn("64 at a time, 10 steps", missed)

    def test_every_figure_stands_beside_libcurl_the_floor_and_the_peer(self):
        row = self.row("64 at a time, 10 steps, results of 200 bytes")
        self.assertEqual([cell.strip() for cell in row.split("|")[2:8]],
                         ["memory", "40.0", "20.0", "6.0", "2.00",
                          "1,234 (AI SDK 7.0.169, keeps nothing)"])
        self.assertIn("| 1,000 | – | 300 | 89 | 44 |", self.page)

    def test_what_it_does_not_know_is_shown_as_printed(self):
        self.assertIn("### the simulator\n\n```\n300 seeds\n```", self.page)

    def test_the_page_in_docs_is_that_of_the_figures_beside_the_script(self):
        figures = (ROOT / "bench/figures.txt").read_text(encoding="utf-8")
        written = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
        self.assertEqual(PAGE.page(figures), written,
                         "bench/page.py bench/figures.txt > docs/performance.md")


if __name__ == "__main__":
    unittest.main()
