#!/usr/bin/env python3
"""The simulator as people run it: one seed, one history."""

import json
import subprocess
import unittest

from support import PAWL, PATIENCE_S, Stage


class Simulator(Stage):
    def hash_of(self, **environment):
        """Of the histories, as a process of its own plays them: with other addresses each time."""
        result = subprocess.run([PAWL, "sim", "--seed", "7", "--seeds", "4", "--json"],
                                capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                                env={**self.environment(), **environment})
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout.splitlines()[-1])["hash"]

    def test_the_same_seed_is_the_same_history_wherever_it_is_played(self):
        first = self.hash_of()
        self.assertEqual(self.hash_of(), first)
        for zone in ("Asia/Kathmandu", "America/St_Johns"):
            self.assertEqual(self.hash_of(TZ=zone), first)
        for locale in ("C", "de_DE.UTF-8", "tr_TR.UTF-8"):
            self.assertEqual(self.hash_of(LC_ALL=locale), first)
        self.assertEqual(self.hash_of(MALLOC_PERTURB_="165"), first)


if __name__ == "__main__":
    unittest.main()
