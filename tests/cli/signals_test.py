#!/usr/bin/env python3
"""Ctrl-C, SIGTERM, a closed pipe, a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import unittest

from support import PAWL, Stage, interrupt, json_lines, main


class Signals(Stage):
    def setUp(self):
        super().setUp()
        self.gated()

    def begin(self, *more, **how):
        process = self.start("run", "gated.yaml", "--id", "r", *more, **how)
        self.wait_for_keys(1)
        return process

    def test_ctrl_c_parks_and_resume_goes_on(self):
        process = self.begin()
        interrupt(process)
        self.wait_for(lambda: "pause_requested" in self.ok("logs", "r").stdout, "the pause")
        self.open_gate()
        _, err = self.end(process, 4)
        self.assertIn("pawl resume r", err)
        self.assertTrue(self.ok("resume", "r").stdout.endswith("\nPassed.\n"))
        self.assertEqual(len(self.keys()), 1)

    def test_ctrl_c_twice_cancels(self):
        process = self.begin()
        interrupt(process)
        self.wait_for(lambda: "pause_requested" in self.ok("logs", "r").stdout, "the pause")
        interrupt(process)
        self.end(process, 130)
        self.assertEqual(self.status("r"), "cancelled")

    def test_ctrl_c_with_json_ends_with_run_waiting(self):
        process = self.begin("--json")
        interrupt(process)
        self.wait_for(lambda: "pause_requested" in self.ok("logs", "r").stdout, "the pause")
        self.open_gate()
        out, _ = self.end(process, 4)
        last = json_lines(out)[-1]
        self.assertEqual((last["type"], last["status"], last["stop_reason"]),
                         ("run_waiting", "waiting", "paused"))

    def test_sigterm_parks_or_leaves_a_resumable_run(self):
        process = self.begin()
        interrupt(process, signal.SIGTERM)
        out, err = process.communicate(timeout=30)  # The gate stays shut: the grace runs out.
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("pawl resume r", err)
        self.ok("resume", "r", code=4)
        self.ok("resolve", "r", "c1", "--happened", "yes")
        self.ok("resume", "r")

    def test_sighup_parks(self):
        process = self.begin()
        interrupt(process, signal.SIGHUP)
        self.wait_for(lambda: "pause_requested" in self.ok("logs", "r").stdout, "the pause")
        self.open_gate()
        self.end(process, 4)

    def test_a_pause_survives_a_restart(self):
        process = self.begin()
        self.ok("pause", "r")
        process.kill()
        process.communicate()
        self.assertIn(self.status("r"), ("running", "waiting"))
        self.ok("resume", "r", code=4)

    def test_a_closed_pipe_hurts_nobody(self):
        for number, options in enumerate(([], ["--json"])):
            reading, writing = os.pipe()
            os.close(reading)
            self.open_gate()
            process = self.start("run", "gated.yaml", "--id", f"p{number}", *options,
                                 stdout=writing)
            os.close(writing)
            _, err = self.end(process, 0)
            self.assertEqual(err, "")

    @unittest.skipUnless(os.path.exists("/dev/full"), "this machine has no /dev/full")
    def test_output_that_cannot_be_written_is_an_error(self):
        self.open_gate()
        for words in (["run", "gated.yaml", "--id", "f"], ["export", "f"], ["ls", "--json"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                _, err = self.end(self.start(*words, stdout=full), 1)
            self.assertIn("pawl: standard output: No space left on device", err)
        self.assertEqual(self.status("f"), "done")

    def test_no_standard_streams_at_all(self):
        self.open_gate()
        done = subprocess.run(
            ["sh", "-c", f"exec '{PAWL}' run gated.yaml --id s <&- >&- 2>&-"],
            cwd=self.directory, env=self.environment(), timeout=30, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.status("s"), "done")
        self.ok("verify", "s")


class Terminal(Stage):
    def on_terminal(self, *words, color=True):
        """What a terminal of 80 columns gets, and the exit code."""
        environment = self.environment()
        if not color:
            environment["NO_COLOR"] = "1"
        master, slave = pty.openpty()
        process = subprocess.Popen([PAWL, *words], cwd=self.directory, env=environment,
                                   stdin=slave, stdout=slave, stderr=slave)
        self.started.append(process)
        os.close(slave)
        seen = b""
        while True:
            ready, _, _ = select.select([master], [], [], 30)
            self.assertTrue(ready, "the terminal stays silent")
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(master)
        return seen.decode(), process.wait(timeout=30)

    def test_the_live_view_shows_step_tool_time_tokens_and_cost(self):
        charter = self.charter(
            "c", "  - text: [\"Let me \", \"look.\"]\n    call: [{ tool: look, input: {} }]\n"
            "  - text: Seen.\n",
            "    look: { description: x, command: [sleep, \"0.6\"], effect: pure, "
            "input: { type: object } }\n")
        seen, code = self.on_terminal("run", charter)
        self.assertEqual(code, 0)
        self.assertRegex(seen, r"step 1 · look · 0:0\d · \d+ tokens · 0\.00 USD")
        self.assertEqual(seen.count("Let me look."), seen.count("  Let me look."))
        final = self.as_shown(seen)
        self.assertEqual(final.count("Let me look."), 1, final)
        self.assertEqual(final.count("Seen."), 1, final)
        self.assertNotIn("tokens · ", final)

    def as_shown(self, seen):
        """The lines that stay, when the erasing is done."""
        lines = [""]
        for piece in re.split(r"(\r\n|\r\x1b\[K|\x1b\[A|\x1b\[[0-9;]*m)", seen):
            if piece == "\r\n":
                lines.append("")
            elif piece == "\r\x1b[K":
                lines[-1] = ""
            elif piece == "\x1b[A":
                lines.pop()
            elif not piece.startswith("\x1b"):
                lines[-1] += piece
        return "\n".join(lines)

    def test_no_color(self):
        charter = self.charter("c", "  - text: Seen.\n")
        seen, _ = self.on_terminal("run", charter, color=False)
        self.assertNotRegex(seen, r"\x1b\[[0-9;]*m")

    def test_what_models_and_tools_say_cannot_act_on_the_terminal(self):
        self.write("evil.sh", "#!/bin/sh\nprintf 'a\\033[2Jb\\033]0;title\\007c'\n", 0o755)
        charter = self.charter(
            "c", '  - text: "\\e[31mred \\u202eright"\n    call: [{ tool: evil, input: {} }]\n'
            '  - text: "end \\e[5m"\n',
            "    evil: { description: x, command: [./evil.sh], effect: pure, "
            "input: { type: object } }\n")
        seen, code = self.on_terminal("run", charter, color=False)
        self.assertEqual(code, 0)
        self.assertNotRegex(seen, "\x1b(?!\\[K|\\[A)")
        self.assertNotIn("\u202e", seen)
        self.assertIn("\\x1b[31mred \\u202eright", seen)
        self.assertIn("\\x1b[2J", seen)
        self.assertIn("end \\x1b[5m", seen)


if __name__ == "__main__":
    main()
