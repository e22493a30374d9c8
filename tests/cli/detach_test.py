#!/usr/bin/env python3
"""Runs in the background."""

import json
import os
import time

from support import Stage, main


class Detach(Stage):
    def test_it_is_durable_at_once_and_goes_on_alone(self):
        self.gated()
        began = time.monotonic()
        run = self.ok("run", "gated.yaml", "--detach").stdout.strip()
        self.assertLess(time.monotonic() - began, 10)
        self.wait_for_keys(1)
        self.assertEqual(self.status(run), "running")
        self.refused("resume", run, code=1, says="driv")
        self.open_gate()
        self.wait_for(lambda: self.status(run) == "done", "the end")
        log = self.data / "logs" / f"{run}.log"
        self.wait_for(lambda: "Passed." in log.read_text(), "the log")
        self.assertEqual(os.stat(self.data).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(log).st_mode & 0o777, 0o600)

    def test_it_can_be_attached_to_and_steered(self):
        self.gated()
        run = self.ok("run", "gated.yaml", "--detach", "--id", "bg").stdout.strip()
        self.assertEqual(run, "bg")
        self.wait_for_keys(1)
        attached = self.start("attach", "bg")
        self.ok("cancel", "bg")
        self.end(attached, 130)

    def test_what_is_wrong_is_said_in_the_foreground(self):
        self.write("bad.yaml", "name: x\n")
        self.refused("run", "bad.yaml", "--detach", code=2, says="bad.yaml:")
        self.gated()
        self.ok("run", "gated.yaml", "--detach", "--id", "twice")
        self.refused("run", "gated.yaml", "Go!", "--detach", "--id", "twice", code=1, says="twice")
        self.ok("cancel", "twice")

    def test_json_and_input_from_a_pipe(self):
        self.charter("c", "  - text: Done.\n")
        said = json.loads(self.ok("run", "c.yaml", "-", "--detach", "--json",
                                  stdin="piped").stdout)
        self.assertTrue(said["detached"])
        self.wait_for(lambda: self.status(said["run"]) == "done", "the end")
        self.assertEqual(self.events(said["run"])[0]["input"], "piped")


if __name__ == "__main__":
    main()
