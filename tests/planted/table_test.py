#!/usr/bin/env python3
"""Each of the 24 bugs of the design, and of those of the machine, has something that finds it, as
docs/simulator.md says."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import switch  # noqa: E402

ROOT = pathlib.Path(os.environ.get("PAWL_SOURCE_DIR", switch.ROOT))
BUGS_MAX = 24 + 11
ROW = re.compile(r"^\| (\d+) \| [^|]+ \| `(sim|planted)\.(\w+)`", re.M)


class TableTest(unittest.TestCase):
    def setUp(self):
        self.rows = ROW.findall((ROOT / "docs/simulator.md").read_text())

    def test_every_bug_has_a_row(self):
        self.assertEqual([int(number) for number, _, _ in self.rows], list(range(1, BUGS_MAX + 1)))

    def test_what_finds_it_is_there(self):
        header = (ROOT / "src/pawl/testing/sim/planted.h").read_text()
        simulated = set(re.findall(r'\{PlantedBug::\w+, "(\w+)"\}', header))
        known = {"sim": simulated, "planted": set(switch.read_bugs())}
        for number, where, name in self.rows:
            self.assertIn(name, known[where], f"row {number}")
        named = {name for _, where, name in self.rows if where == "planted"}
        self.assertLessEqual(known["planted"], named)

    def test_every_switch_fits_its_file(self):
        for name, bug in switch.read_bugs().items():
            self.assertEqual((ROOT / bug["file"]).read_text().count("\n".join(bug["old"])), 1, name)


if __name__ == "__main__":
    unittest.main()
