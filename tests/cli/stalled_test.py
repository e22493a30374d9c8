#!/usr/bin/env python3
"""A reader of the output who reads slowly, or never: the run, its limits and its signals go on."""

import fcntl
import os
import pty
import signal
import subprocess
import termios
import time

from support import PAWL, Stage, interrupt, json_lines, main

F_SETPIPE_SZ = 1031
GRACE_S = 5


class Stalled(Stage):
    def setUp(self):
        super().setUp()
        self.reading, self.writing = os.pipe()
        fcntl.fcntl(self.writing, F_SETPIPE_SZ, 4096)
        self.addCleanup(os.close, self.reading)

    def talker(self, time_limit="60s", then=""):
        """A run with more to say than a pipe and the queue before it hold.

        Its calls are of a tool that does not exist: a process for each would take the test's time.
        """
        more = (f"limits: {{ steps: 1000, time: {time_limit} }}\n"
                "guards: { identical_calls: 0, identical_steps: 0, tool_errors: 0 }\n")
        line = "x" * 400
        call = "    call: [{ tool: absent, input: {} }]\n"
        said = "".join(f"  - text: \"{number} {line}\"\n{call}" for number in range(300))
        self.write("gate.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n"
                   "while [ ! -e gate ]; do sleep 0.02; done\necho opened\n", 0o755)
        tool = ("    gate:\n      description: Waits.\n      command: [./gate.sh]\n"
                "      effect: once\n      input: { type: object }\n")
        return self.charter("talker", said + then, tool, more)

    def begin(self, *words, **how):
        process = self.start(*words, stdout=self.writing, **how)
        os.close(self.writing)
        return process

    def stalled_at_gate(self, *more):
        self.talker(then="  - call: [{ tool: gate, input: {} }]\n  - text: Passed.\n")
        process = self.begin("run", "talker.yaml", "--id", "r", *more)
        self.wait_for_keys(1)
        return process

    def rest_of(self, err):
        """The number that the message names; what was written before it is in the pipe."""
        self.assertIn("pawl logs r --from ", err)
        return int(err.split("pawl logs r --from ")[1].split()[0])

    def in_pipe(self):
        os.set_blocking(self.reading, False)
        text = b""
        while piece := os.read(self.reading, 65536):
            text += piece
        return text.decode()

    def ends_within(self, process, seconds, code):
        _, err = process.communicate(timeout=seconds)
        self.assertEqual(process.returncode, code, err)
        return err

    def test_the_time_limit_ends_the_run(self):
        self.talker("2s", then="  - call: [{ tool: gate, input: {} }]\n")
        process = self.begin("run", "talker.yaml", "--id", "r", "--json")
        err = self.ends_within(process, 2 + 2 + GRACE_S + 10, 5)
        self.rest_of(err)
        self.assertEqual(self.status("r"), "stopped")

    def test_what_was_not_read_is_named_and_nothing_is_lost_or_said_twice(self):
        process = self.stalled_at_gate("--json")
        self.open_gate()
        err = self.ends_within(process, GRACE_S + 15, 0)
        seen = json_lines(self.in_pipe())
        rest = json_lines(self.ok("logs", "r", "--json", "--from", self.rest_of(err)).stdout)
        self.assertEqual([event["seq"] for event in seen + rest],
                         [event["seq"] for event in self.events("r")])
        self.assertEqual(self.status("r"), "done")

    def test_cancel_takes_effect(self):
        process = self.stalled_at_gate()
        began = time.monotonic()
        self.assertIn("taken up", self.ok("cancel", "r").stdout)
        self.wait_for(lambda: self.status("r") == "cancelled", "the end")
        self.assertLess(time.monotonic() - began, 4)
        interrupt(process)
        self.ends_within(process, GRACE_S + 10, 130)

    def test_interrupts_park_cancel_and_leave(self):
        process = self.stalled_at_gate()
        interrupt(process)
        self.wait_for(lambda: "pause_requested" in self.ok("logs", "r").stdout, "the pause")
        interrupt(process)
        self.wait_for(lambda: self.status("r") == "cancelled", "the end")
        interrupt(process)  # The reader is not waited for.
        began = time.monotonic()
        self.rest_of(self.ends_within(process, 10, 130))
        self.assertLess(time.monotonic() - began, GRACE_S - 1)

    def test_sigterm_parks(self):
        process = self.stalled_at_gate()
        interrupt(process, signal.SIGTERM)
        self.wait_for(lambda: "pause_requested" in self.ok("logs", "r").stdout, "the pause")
        self.open_gate()
        self.wait_for(lambda: self.status("r") == "waiting", "the parking")
        interrupt(process, signal.SIGTERM)
        self.ends_within(process, GRACE_S + 10, 4)

    def test_standard_error_in_the_same_pipe(self):
        self.talker(then="  - text: Done.\n")
        process = self.begin("run", "talker.yaml", "--id", "r", "--debug",
                             stderr=subprocess.STDOUT)
        self.assertEqual(process.wait(timeout=GRACE_S + 25), 0)
        self.assertEqual(self.status("r"), "done")

    def test_a_slow_reader_gets_every_line_once_and_in_order(self):
        process = self.stalled_at_gate("--json")
        self.open_gate()
        self.wait_for(lambda: self.status("r") == "done", "the end")
        text = b""
        while piece := os.read(self.reading, 1000):
            text += piece
        self.assertEqual(self.ends_within(process, 10, 0), "")
        seqs = [event["seq"] for event in json_lines(text.decode())]
        self.assertEqual(seqs, list(range(len(self.events("r")))))

    def test_followers_end_with_the_run(self):
        driven = self.stalled_at_gate()
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        followers = [(self.start("attach", "r", stdout=writing), 0),
                     (self.start("logs", "r", "-f", "--json", stdout=writing), 0)]
        os.close(writing)
        self.open_gate()
        for process, code in [(driven, 0), *followers]:
            self.rest_of(self.ends_within(process, GRACE_S + 20, code))


class StoppedTerminal(Stage):
    def terminal(self):
        self.gated()
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        return slave

    def run_at(self, slave):
        process = subprocess.Popen([PAWL, "run", "gated.yaml", "--id", "r"], cwd=self.directory,
                                   env=self.environment(), stdin=slave, stdout=slave, stderr=slave)
        self.started.append(process)
        self.wait_for_keys(1)
        return process

    def cancels(self, process):
        self.ok("cancel", "r")
        self.wait_for(lambda: self.status("r") == "cancelled", "the end")
        self.assertEqual(process.wait(timeout=GRACE_S + 10), 130)

    def test_a_terminal_that_was_stopped_holds_up_nothing(self):
        slave = self.terminal()
        process = self.run_at(slave)
        termios.tcflow(slave, termios.TCOOFF)  # As ^S does.
        self.cancels(process)

    def test_nor_does_one_that_was_stopped_before_the_first_word(self):
        slave = self.terminal()
        termios.tcflow(slave, termios.TCOOFF)
        self.cancels(self.run_at(slave))


if __name__ == "__main__":
    main()
