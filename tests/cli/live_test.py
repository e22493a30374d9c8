#!/usr/bin/env python3
"""Every command from a second terminal on a run that is being driven."""

import os
import time

from support import Stage, json_lines, main


class Live(Stage):
    def setUp(self):
        super().setUp()
        self.gated()
        self.process = self.start("run", "gated.yaml", "--id", "live")
        self.wait_for_keys(1)

    def test_looking_changes_nothing(self):
        self.assertEqual(self.summary("live")["status"], "running")
        self.assertIn("live", self.ok("ls").stdout)
        self.assertIn("live", self.ok("ls", "--status", "running").stdout)
        self.assertEqual(self.ok("ls", "--status", "done").stdout, "")
        self.assertIn("c1 gate", self.ok("logs", "live").stdout)
        self.assertIn("c1", self.ok("explain", "live").stdout)
        self.ok("verify", "live")
        self.open_gate()
        self.end(self.process, 0)

    def test_a_second_driver_is_refused(self):
        self.refused("resume", "live", code=1, says="driv")
        self.open_gate()
        self.end(self.process, 0)
        self.assertEqual(len(self.keys()), 1)

    def test_followers_see_every_event_to_the_end(self):
        logs = self.start("logs", "live", "-f", "--json")
        attached = self.start("attach", "live")
        self.open_gate()
        self.end(self.process, 0)
        events = json_lines(self.end(logs, 0)[0])
        self.assertEqual([event["seq"] for event in events], list(range(len(events))))
        self.assertEqual(events[-1]["type"], "run_finished")
        self.assertTrue(self.end(attached, 0)[0].endswith("\nPassed.\n"))

    def test_a_message_is_taken_up_and_answered(self):
        told = self.ok("message", "live", "hello there")
        self.assertIn("taken up", told.stdout)
        self.open_gate()
        out, _ = self.end(self.process, 0)
        self.assertIn("hello there", out)
        kinds = [event["type"] for event in self.events("live")]
        self.assertIn("message_received", kinds)

    def test_cancel_ends_it_within_a_second(self):
        began = time.monotonic()
        self.assertIn("taken up", self.ok("cancel", "live", "enough").stdout)
        out, err = self.end(self.process, 130)
        self.assertLess(time.monotonic() - began, 3.0)
        self.assertIn("enough", out + err)
        self.assertEqual(self.status("live"), "cancelled")
        self.assertIn("cancelled", self.ok("explain", "live").stdout)

    def test_pause_parks_it_and_resume_goes_on(self):
        self.assertIn("taken up", self.ok("pause", "live").stdout)
        self.open_gate()
        _, err = self.end(self.process, 4)
        self.assertIn("pawl resume live", err)
        self.assertEqual(self.summary("live")["reason"], "paused")
        self.ok("resume", "live")
        self.assertEqual(len(self.keys()), 1)

    def test_resolve_of_what_is_not_in_doubt_is_refused(self):
        self.refused("resolve", "live", "c1", "--happened", code=1, says="not in doubt")
        self.open_gate()
        self.end(self.process, 0)

    def test_control_goes_before_guidance(self):
        # Both wait in the inbox of a run that is not driven.
        self.process.kill()
        self.process.communicate()
        self.ok("message", "live", "do this first")
        self.assertIn("cancelled", self.ok("cancel", "live", "no").stdout)
        kinds = [event["type"] for event in self.events("live")]
        self.assertIn("cancel_requested", kinds)
        if "message_received" in kinds:
            self.assertLess(kinds.index("cancel_requested"), kinds.index("message_received"))

    def test_many_may_drive_their_own_runs(self):
        count = int(os.environ.get("PAWL_DRIVERS", "12"))
        self.pay()
        others = [self.start("run", "pay.yaml", "--id", f"own{n}") for n in range(count)]
        for other in others:
            self.end(other, 0)
        self.assertEqual(len({key for key, _ in self.ledger()}), 3 * count)
        self.open_gate()
        self.end(self.process, 0)


if __name__ == "__main__":
    main()
