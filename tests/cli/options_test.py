#!/usr/bin/env python3
"""Options that change how a run is shown, and from where it is taken up."""

import json
import re

from approvals_test import PayStage
from support import json_lines, main

COLOUR = r"\x1b\[[0-9;]*m"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class NoColor(PayStage):
    def setUp(self):
        super().setUp()
        self.charter("c", "  - text: Done.\n")

    def test_a_terminal_gets_colours_unless_it_is_told_not_to(self):
        coloured = self.at_terminal("run", "c.yaml", "go", "--id", "r", answers=[])
        self.assertRegex(coloured, COLOUR)
        for number, words in enumerate((("run", "c.yaml", "go", "--no-color"),
                                        ("--no-color", "run", "c.yaml", "go"))):
            plain = self.at_terminal(*words, "--id", f"p{number}", answers=[])
            self.assertNotRegex(plain, COLOUR)
            self.assertIn("Done.", plain)

    def test_it_goes_before_the_configuration(self):
        (self.directory / ".config/pawl").mkdir(parents=True)
        self.write(".config/pawl/config.yaml", "color: always\n")
        self.assertRegex(self.ok("run", "c.yaml", "go", "--id", "r").stdout, COLOUR)
        self.assertNotIn("\x1b", self.ok("run", "c.yaml", "go", "--no-color").stdout)
        self.assertRegex(self.ok("attach", "r").stdout, COLOUR)
        self.assertNotIn("\x1b", self.ok("attach", "r", "--no-color").stdout)


class Controls(PayStage):
    HIDDEN = "a\x85b\x9bc\u202ed\u2066e\u200bf\u2069"

    def test_json_at_a_terminal_escapes_what_would_change_it(self):
        self.write("c.script.yaml", "replies:\n  - text: " + json.dumps(self.HIDDEN) + "\n")
        self.write("c.yaml", "name: c\nmodel: scripted/c.script.yaml\ninstructions: Go.\n")
        ran = self.at_terminal("run", "c.yaml", "go", "--id", "r", "--json", answers=[])
        logs = self.at_terminal("logs", "r", "--json", answers=[])
        for shown in (ran, logs, self.at_terminal("show", "r", "--json", answers=[])):
            self.assertNotRegex(shown, r"[\x80-\x9f\u200b\u202e\u2066\u2069]")
            self.assertRegex(shown, r"\\u202[eE]")
        self.assertIn(self.HIDDEN, [event.get("text") for event in json_lines(ran)]
                      + [json.loads(self.ok("show", "r", "--json").stdout)["output"]])


class SuspendId(PayStage):
    def setUp(self):
        super().setUp()
        self.charter("c", "  - { text: One., stop: suspend, stop_detail: the deploy }\n"
                     "  - { text: Two., stop: suspend, stop_detail: the test }\n  - text: Done.\n")
        self.ok("run", "c.yaml", "go", "--id", "r", code=4)

    def suspension(self):
        """The id that explain gives, in the words that one has to type."""
        told = self.ok("explain", "r").stdout
        found = re.search(r"\): pawl resume r --instance i1 --suspend-id (\w+)\n", told)
        self.assertIsNotNone(found, told)
        return found[1]

    def resume(self, suspension, code):
        self.ok("resume", "r", "--instance", "i1", "--suspend-id", suspension, code=code)

    def test_a_suspended_run_goes_on_from_its_suspension(self):
        self.ok("resume", "r", code=4)  # for what it waits is nobody's to guess
        self.assertEqual(self.summary("r")["output"], "One.")
        first = self.suspension()
        self.resume(first, code=4)
        self.assertEqual(self.summary("r")["output"], "Two.")
        second = self.suspension()
        self.resume(second, code=0)
        self.assertEqual(self.summary("r")["output"], "Done.")
        resumed = [event["suspend_id"] for event in self.events("r")
                   if event["type"] == "instance_resumed"]
        self.assertEqual(resumed, [first, second])
        self.ok("replay", "r")

    def test_another_suspension_is_refused(self):
        first = self.suspension()
        refused = {("--suspend-id", first): (2, "belong together"),
                   ("--instance", "i1"): (2, "belong together"),
                   ("--instance", "i1", "--suspend-id", "s99"): (1, f"as {first}, not as s99"),
                   ("--instance", "i2", "--suspend-id", first): (1, "no instance i2"),
                   ("--instance", "x", "--suspend-id", first): (2, "x")}
        for words, (code, says) in refused.items():
            self.refused("resume", "r", *words, code=code, says=says)
        self.resume(first, code=4)
        self.refused("resume", "r", "--instance", "i1", "--suspend-id", first, code=1,
                     says=f"as {self.suspension()}, not as {first}")
        self.assertEqual(self.summary("r")["output"], "Two.")


class OnBehalf(PayStage):
    def test_tools_see_on_whose_behalf_they_run_before_and_after_a_resume(self):
        self.write("who.sh", "#!/bin/sh\necho \"$PAWL_TENANT $PAWL_IDENTITY $PAWL_SESSION "
                   "$TRACEPARENT\" >>who\n[ -e gate ] || sleep 60\n", 0o755)
        self.charter(
            "c", "  - call: [{ tool: who, input: {} }]\n  - text: Done.\n",
            "    who: { description: x, command: [./who.sh], effect: pure, timeout: 2m, "
            "input: { type: object } }\n")
        process = self.start("run", "c.yaml", "--id", "r", "--tenant", "acme", "--session", "s-17",
                             "--on-behalf-of", "ann", "--trace-parent", TRACE)
        who = self.directory / "who"
        self.wait_for(lambda: who.exists() and who.read_text().endswith("\n"), "the tool")
        process.kill()
        process.communicate()
        (self.directory / "gate").touch()
        self.ok("resume", "r")
        self.assertEqual(who.read_text(), f"acme ann s-17 {TRACE}\n" * 2)
        started = self.events("r")[0]
        self.assertEqual((started["identity"], started["session_id"], started["trace_parent"]),
                         ("ann", "s-17", TRACE))
        self.assertNotEqual(started["started_by"], "ann")

    def test_a_session_that_is_no_plain_text_is_refused(self):
        self.charter("c", "  - text: Done.\n")
        self.refused("run", "c.yaml", "--session", "a\tb", code=2, says="session")

    def test_a_trace_that_is_none_is_refused(self):
        self.charter("c", "  - text: Done.\n")
        for trace in ("", "00-ab-cd-01", TRACE.upper(), TRACE + "-0", "ff" + TRACE[2:],
                      TRACE.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32)):
            self.refused("run", "c.yaml", "--trace-parent", trace, code=2, says="W3C traceparent")


if __name__ == "__main__":
    main()
