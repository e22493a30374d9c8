#!/usr/bin/env python3
"""Every exit code, and that it can be explained."""

import sqlite3

from support import Stage, main


class ExitCodes(Stage):
    def test_0_done(self):
        self.ok("run", self.charter("c", "  - text: Done.\n"))

    def test_1_no_such_run_and_no_store(self):
        self.refused("show", "nobody", code=1, says="pawl run")
        self.ok("run", self.charter("c", "  - text: Done.\n"))
        for command in ("show", "logs", "attach", "explain", "resume", "pause", "cancel",
                        "verify"):
            self.refused(command, "nobody", code=1, says="there is no run nobody")

    def test_1_finished_runs_take_nothing_more(self):
        self.ok("run", self.charter("c", "  - text: Done.\n"), "--id", "r")
        for words in (("pause", "r"), ("cancel", "r"), ("resolve", "r", "c1", "--happened")):
            self.refused(*words, code=1, says="is over")
        # Who resumes until it ends wants to know how it ended.
        self.assertTrue(self.ok("resume", "r").stdout.endswith("\nDone.\n"))

    def test_1_ambiguous_prefix_lists_the_candidates(self):
        self.charter("c", "  - text: Done.\n")
        for run in ("abc1", "abc2"):
            self.ok("run", "c.yaml", "--id", run)
        said = self.refused("show", "abc", code=1, says="abc1").stderr
        self.assertIn("abc2", said)
        self.ok("show", "abc1")

    def test_1_a_directory_that_cannot_be_a_store(self):
        self.charter("c", "  - text: Done.\n")
        self.write("file", "")
        self.refused("--data", self.directory / "file", "run", "c.yaml", code=1, says="file")

    def test_2_bad_usage(self):
        self.refused("run", code=2, says="CHARTER is missing")
        self.refused("frobnicate", code=2, says="not understood")
        self.refused("run", "not-there.yaml", code=2, says="not-there.yaml")
        self.refused("run", self.charter("c", "  - text: x\n"), "--steps", "0", code=2,
                     says="--steps")
        self.refused("--log-level", "loud", "ls", code=2, says="--log-level")
        self.assertFalse(self.data.exists(), "bad usage made a data directory")

    def test_3_failed(self):
        charter = self.charter("c", "  - error: { category: validation_error }\n")
        result = self.ok("run", charter, "--id", "r", code=3)
        self.assertIn("validation_error", result.stderr)
        self.assertIn("validation_error", self.ok("explain", "r").stdout)

    def test_3_a_script_that_runs_out(self):
        charter = self.charter("c", "  - call: [{ tool: nothing, input: {} }]\n")
        result = self.ok("run", charter, code=3)
        self.assertIn("was asked for a 2nd", result.stdout + result.stderr)

    def test_4_in_doubt_then_resolved(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        said = self.ok("resume", "r", code=4).stderr
        self.assertIn("pawl resolve r c1 --happened", said)
        self.assertIn(self.keys()[0], said)
        self.ok("resume", "r", code=4)  # Asking again changes nothing.
        self.assertIn("pawl resume r", self.ok("resolve", "r", "c1", "--happened", "ok").stdout)
        self.ok("resume", "r")
        self.assertEqual(len(self.keys()), 1)

    def test_4_in_doubt_then_made_again(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        self.ok("resume", "r", code=4)
        self.ok("resolve", "r", "c1", "--did-not-happen")
        self.open_gate()
        self.ok("resume", "r")
        self.assertEqual(len(self.keys()), 2)
        self.assertEqual(len(set(self.keys())), 1, "the same call has the same key")

    def test_5_stopped_by_a_limit(self):
        replies = "".join(f"  - call: [{{ tool: n, input: {{ i: {i} }} }}]\n" for i in range(9))
        tool = ("    n: { description: x, command: [echo, hi], effect: pure, "
                "input: { type: object } }\n")
        charter = self.charter("c", replies, tool)
        result = self.ok("run", charter, "--steps", "3", "--id", "r", code=5)
        self.assertIn("steps", result.stderr)
        self.assertEqual(self.summary("r")["reason"], "steps")

    def test_5_a_call_that_is_asked_about_and_never_ends_is_stopped_by_the_guard(self):
        self.charter("c", "  - call: [{ tool: r, input: {} }]\n  - text: Never.\n",
                     "    r: { command: [sleep, '60'], effect: reconcilable, timeout: 100ms,\n"
                     "         status: [echo, '{\"outcome\": \"absent\"}'] }\n")
        said = self.refused("run", "c.yaml", code=5, says="guard tool_errors: 3").stderr
        self.assertIn("its tool could not tell, or the run ended before it was asked", said)

    def test_6_quarantined(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        self.damage()
        self.ok("verify", "r", code=6)
        self.ok("resume", "r", code=6)
        self.ok("resume", "r", code=6)
        self.assertEqual(self.summary("r")["status"], "quarantined")

    def damage(self):
        database = sqlite3.connect(self.data / "pawl.db")
        database.execute("UPDATE journal SET payload = zeroblob(length(payload)) WHERE seq = 1")
        database.commit()
        database.close()

    def test_130_cancelled(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        self.ok("cancel", "r")
        self.end(process, 130)


if __name__ == "__main__":
    main()
