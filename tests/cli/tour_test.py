#!/usr/bin/env python3
"""The tour of examples/, as a newcomer runs it."""

import time

from support import SOURCE, Stage, main


class Tour(Stage):
    def test_it_shows_a_kill_and_a_run_that_goes_on(self):
        began = time.monotonic()
        said = self.ok("run", SOURCE / "examples/tour.yaml").stdout
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual(said.count("kill -9"), 3, said)
        self.assertEqual(said.count("nothing was charged twice"), 2, said)
        self.assertIn("in doubt", said)
        self.assertIn("exit code 4", said)


if __name__ == "__main__":
    main()
