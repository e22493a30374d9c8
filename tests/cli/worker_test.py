#!/usr/bin/env python3
"""`pawl worker` drives what is due: after kills, answers, messages and pauses; beside another one;
and leaves to the next one what it cannot finish."""

import signal

from support import Stage, interrupt, main


class Worker(Stage):
    def left_behind(self, run, effect="idempotent"):
        """A run whose process was killed in the middle of a call."""
        before = len(self.keys())
        process = self.start("run", self.gated(effect=effect), "--id", run)
        self.wait_for_keys(before + 1)
        process.kill()
        process.wait()

    def test_it_drives_what_processes_left_behind(self):
        for run in ("a", "b", "c"):
            self.left_behind(run)
        self.open_gate()
        worked = self.ok("worker", "--once")
        for run in ("a", "b", "c"):
            self.assertIn(f"{run} is taken up (interrupted)", worked.stdout)
            self.assertIn(f"{run} is done", worked.stdout)
            self.ok("verify", run)
        self.assertEqual(len(set(self.keys())), 3)
        self.assertEqual(self.ok("worker", "--once").stdout, "")

    def test_a_once_call_that_was_cut_off_waits_for_a_person_and_then_goes_on(self):
        self.left_behind("r", effect="once")
        self.open_gate()
        self.assertIn("r is waiting (in_doubt)", self.ok("worker", "--once").stdout)
        self.assertEqual(len(self.keys()), 1)
        worker = self.start("worker")
        self.ok("resolve", "r", "c1", "--happened", "opened")
        self.wait_for(lambda: self.status("r") == "done", "the end")
        interrupt(worker, signal.SIGTERM)
        self.end(worker, 0)
        self.assertEqual(len(self.keys()), 1)

    def test_two_share_a_directory_and_a_killed_one_loses_nothing(self):
        for number in range(6):
            self.left_behind(f"r{number}")
        one, other = self.start("worker"), self.start("worker")
        self.wait_for_keys(12)
        one.kill()
        one.wait()
        self.wait_for_keys(13)  # the other has taken up what it had
        self.open_gate()
        for number in range(6):
            self.wait_for(lambda n=number: self.status(f"r{n}") == "done", f"r{number}")
            self.ok("verify", f"r{number}")
        interrupt(other, signal.SIGINT)
        self.end(other, 0)
        self.assertEqual(len(set(self.keys())), 6)

    def test_what_is_stopped_goes_on_with_the_next_and_what_is_paused_does_not(self):
        charter = self.charter("slow", "  - text: Slow.\n    delay: 60s\n    endless: true\n")
        for run in ("mine", "ann"):
            process = self.start("run", charter, "--id", run)
            self.wait_for(lambda r=run: self.pawl("show", r).returncode == 0, run)
            process.kill()
            process.wait()
        worker = self.start("worker")
        for run in ("mine", "ann"):
            self.wait_for(lambda r=run: self.summary(r)["driven"], run)
        self.ok("pause", "ann")
        self.wait_for(lambda: self.status("ann") == "waiting")
        interrupt(worker, signal.SIGTERM)
        self.assertIn("go on with the next worker", self.end(worker, 0)[1])
        self.assertEqual((self.status("mine"), self.status("ann")), ("waiting", "waiting"))
        self.start("worker")
        self.wait_for(lambda: self.summary("mine")["driven"], "mine")
        self.assertFalse(self.summary("ann")["driven"])
        self.ok("cancel", "mine")
        self.refused("worker", "--runs", "9999", code=2, says="from 1 to 1024")


if __name__ == "__main__":
    main()
