#!/usr/bin/env python3
"""The tour of examples/, as a newcomer runs it."""

import os
import shutil
import subprocess
import time
import unittest

from support import PAWL, SOURCE, TIME_SCALE, Stage, main

NOBODY = 65534


class Tour(Stage):
    def test_it_shows_a_kill_and_a_run_that_goes_on(self):
        began = time.monotonic()
        said = self.ok("run", SOURCE / "examples/tour.yaml").stdout
        self.assertLess(time.monotonic() - began, 60 * TIME_SCALE)
        self.check_tour(said)

    @unittest.skipUnless(os.getuid() == 0, "whoever is not root has shown it in the other test")
    def test_it_shows_the_same_to_an_ordinary_user(self):
        shutil.copytree(SOURCE / "examples", self.directory / "examples")
        program = shutil.copy(PAWL, self.directory / "pawl")
        self.data.mkdir()
        for path in (self.directory, self.data):
            os.chown(path, NOBODY, NOBODY)
        said = subprocess.run([program, "run", "examples/tour.yaml"], cwd=self.directory,
                              env=self.environment(), user=NOBODY, group=NOBODY,
                              extra_groups=[], capture_output=True, text=True,
                              timeout=60 * TIME_SCALE)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.check_tour(said.stdout)

    def check_tour(self, said):
        self.assertEqual(said.count("kill -9"), 3, said)
        self.assertEqual(said.count("nothing was charged twice"), 2, said)
        self.assertIn("in doubt", said)
        self.assertIn("exit code 4", said)


class ApprovalsExample(Stage):
    def example(self):
        for name in ("approvals.yaml", "approvals.script.yaml"):
            shutil.copy(SOURCE / "examples" / name, self.directory / name)
        shutil.copytree(SOURCE / "examples/approvals", self.directory / "approvals")
        os.chmod(self.directory, 0o755)
        said = self.pawl("run", "approvals.yaml", "go", "--id", "demo")
        if "user namespaces" in said.stderr + said.stdout:
            raise unittest.SkipTest("this machine has no user namespaces: " + said.stderr)
        self.assertEqual(said.returncode, 4, said.stdout + said.stderr)
        self.assertIn(">>notes.txt", self.ok("approvals", "demo").stdout)
        return self.directory / "approvals/notes.txt"

    def test_what_is_approved_runs_in_the_sandbox(self):
        notes = self.example()
        self.ok("approve", "demo")
        self.ok("resume", "demo")
        self.assertEqual(notes.read_text().splitlines()[1:], ["written by the agent"])
        self.assertIn("2 permitted, 1 put before a person", self.ok("explain", "demo").stdout)

    def test_what_is_denied_does_not(self):
        notes = self.example()
        self.ok("deny", "demo", "--reason", "not that one")
        self.ok("resume", "demo")
        self.assertEqual(len(notes.read_text().splitlines()), 1)


if __name__ == "__main__":
    main()
