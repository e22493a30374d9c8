#!/usr/bin/env python3
"""Runs that have ended go on: after a limit, a guard, a failure; with more room or more words; in
the same journal, and without doing anything twice."""

import json

from support import Stage, main

COUNT = """    count:
      description: Counts.
      command: [./count.sh]
      effect: once
      input: { type: object }
"""


class GoOn(Stage):
    def setUp(self):
        super().setUp()
        self.write("count.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\nwc -l <keys\n", 0o755)

    def counting(self, calls, more="limits: { steps: 2 }\n"):
        replies = "".join(f"  - call: [{{ tool: count, input: {{ n: {n} }} }}]\n"
                          for n in range(calls))
        replies += "  - text: Counted.\n  - text: Said again.\n"
        return self.charter("c", replies, COUNT, more)

    def test_after_a_limit_it_goes_on_with_more_room(self):
        ended = self.ok("run", self.counting(4), "--id", "r", code=5)
        self.assertIn("pawl resume r --steps +20", ended.stderr)
        again = self.ok("resume", "r", code=5)  # it needs room, and says so
        self.assertIn("pawl resume r --steps +20", again.stderr)
        self.refused("resume", "r", "--steps", "1", code=2, says="--steps +1 gives it more")
        self.refused("resume", "r", "--steps", "many", code=2, says="an integer from 1")
        self.refused("resume", "r", "--tokens", "+5", code=1, says="a limit leaves no room")
        self.assertEqual(self.status("r"), "stopped")
        self.assertIn("Counted.", self.ok("resume", "r", "--steps", "+3").stdout)
        # The call that the limit left without an answer was not made; none was made twice.
        self.assertEqual((len(self.keys()), len(set(self.keys()))), (3, 3))
        self.ok("verify", "r")
        self.ok("replay", "r")

    def test_after_a_guard_it_goes_on_as_it_is_or_with_the_guard_off(self):
        call = "  - call: [{ tool: count, input: {} }]\n"
        charter = self.charter("c", call * 5 + "  - text: Counted.\n", COUNT, "")
        ended = self.ok("run", charter, "--id", "r", code=5)
        self.assertIn("pawl resume r (--guard identical_calls=off", ended.stderr)
        self.refused("resume", "r", "--guard", "identical_calls=1", code=2,
                     says="must be off or an integer from 2")
        self.refused("resume", "r", "--guard", "patience=3", code=2,
                     says='there is no guard "patience", only identical_calls')
        self.ok("resume", "r", "--guard", "identical_calls=off", "--guard", "identical_steps=off")
        self.assertEqual(len(self.keys()), len(set(self.keys())))
        self.ok("replay", "r")

    def test_a_failed_run_is_tried_again(self):
        self.write("c.script.yaml", "replies:\n  - error: { category: validation_error }\n"
                   "  - text: Here again.\n")
        self.write("c.yaml", "name: c\nmodels: { main: scripted/c.script.yaml }\n"
                   "instructions: Go.\n")
        ended = self.ok("run", "c.yaml", "--id", "r", code=3)
        self.assertIn("When that is mended it goes on: pawl resume r", ended.stderr)
        self.assertIn("Here again.", self.ok("resume", "r").stdout)
        self.ok("replay", "r")

    def test_a_conversation_goes_on_in_the_same_journal(self):
        charter = self.charter("c", "  - text: Four.\n  - text: Eight.\n  - text: Sixteen.\n"
                               "  - text: Nought.\n")
        self.ok("run", charter, "--id", "r", "Twice two?")
        said = self.ok("message", "r", "Twice that?")
        self.assertIn("Eight.", said.stdout)
        self.assertIn("Sixteen.", self.ok("run", "--continue", "r", "And again?").stdout)
        self.assertIn("Nought.", self.ok("run", "--last", "-", stdin="And less?").stdout)
        types = [event["type"] for event in self.events("r")]
        self.assertEqual(types.count("run_reopened"), 3)
        self.assertEqual(types.count("run_finished"), 4)
        for text in ("Twice two?", "Twice that?", "And again?", "And less?"):
            self.assertIn(text, self.ok("logs", "r").stdout)
        self.refused("message", "r", "--urgent", "Now!", code=1, says="--urgent says nothing then")
        self.refused("resume", "r", "--steps", "+5", code=1, says="pawl message r TEXT")
        self.assertIn("is over", self.ok("resume", "r").stderr)
        self.ok("verify", "r")
        self.ok("replay", "r")

    def test_a_chat_with_a_charter_is_a_run_that_one_can_leave_and_come_back_to(self):
        call = "  - call: [{ tool: count, input: {} }]\n"
        charter = self.charter("c", call + "  - text: One.\n" + call + "  - text: Two.\n" +
                               "  - text: Bye.\n", COUNT, "limits: { steps: 2 }\n")
        talked = self.ok("chat", charter, stdin="Count.\n\nAgain.\n")
        self.assertLess(talked.stdout.index("One."), talked.stdout.index("Two."))
        run = talked.stderr.split("pawl chat --continue ")[1].split()[0]
        self.assertEqual(len(self.keys()), 2)  # each line has the charter's two steps
        back = self.ok("chat", "--continue", run[:9], stdin="Enough.\n")
        self.assertIn("it said:\nTwo.", back.stderr)
        self.assertIn("Bye.", back.stdout)
        self.assertIn("done", self.ok("chat", "--last", stdin="").stderr)
        self.ok("replay", run)
        self.refused("chat", "none.yaml", code=2, says="none.yaml")
        self.refused("chat", charter, "-m", "x/y", code=2, says="--model is for a chat without")
        self.refused("chat", "--last", "Hello.", code=2, says="lines are read from standard input")

    def test_continue_takes_no_charter_and_no_options_of_a_new_run(self):
        charter = self.charter("c", "  - text: Four.\n")
        self.ok("run", charter, "--id", "r")
        self.refused("run", "--continue", "r", charter, "And?", code=2, says="without a charter")
        self.refused("run", "--continue", "r", "--steps", "5", "And?", code=2,
                     says="--steps is for a new run; pawl resume gives an old one more room")
        self.refused("run", "--continue", "r", code=2, says="a message is UTF-8 text and not empty")
        self.refused("run", "--continue", "nobody", "And?", code=1, says="nobody")

    def test_a_cancelled_run_stays_cancelled_unless_it_is_told_more(self):
        charter = self.gated()
        process = self.start("run", charter, "--id", "r")
        self.wait_for_keys(1)
        self.ok("cancel", "r")
        self.open_gate()
        process.communicate()
        self.assertIn("pawl message r TEXT", self.ok("explain", "r").stdout)
        self.ok("resume", "r", code=130)
        self.assertEqual(self.status("r"), "cancelled")

    def test_it_goes_on_in_the_background(self):
        self.ok("run", self.counting(3), "--id", "r", code=5)
        self.refused("resume", "r", "-d", code=1, says="a limit leaves no room to go on")
        self.assertEqual(self.ok("resume", "r", "-d", "--steps", "+3").stdout.strip(), "r")
        self.wait_for(lambda: self.status("r") == "done", "the end")
        self.refused("resume", "r", "-d", code=1, says="pawl message r TEXT")
        self.refused("resume", "nobody", "-d", code=1, says="nobody")
        for more in (("-d",), ("--steps", "+5")):
            self.refused("resume", "--due", *more, code=2, says="takes nothing else")
        self.refused("resume", "r", "--instance", "i2", "--suspend-id", "s", code=1,
                     says="--instance says nothing")

    def test_a_fork_takes_more_room_too(self):
        charter = self.counting(4)
        self.ok("run", charter, "--id", "r", code=5)
        self.ok("fork", "r", "--at", "1", "--id", "short", code=5)
        self.ok("fork", "r", "--at", "1", "--id", "long", "--steps", "+3")
        self.ok("resume", "r", "--steps", "+1", code=5)
        # Its prefix holds the reopening, with fewer steps than the fork begins with.
        self.ok("fork", "r", "--at", "3", "--id", "later", "--steps", "+9")
        for run in ("r", "short", "long", "later"):
            self.ok("replay", run)
            self.ok("verify", run)
        self.assertEqual(len(self.keys()), len(set(self.keys())))
    def test_the_same_start_under_the_same_id_is_the_same_run(self):
        charter = self.counting(1, "")
        self.write("notes.txt", "milk")
        start = ("run", charter, "Go.", "--id", "r", "--file", "notes.txt")
        first = self.ok(*start)
        again = self.ok(*start)
        self.assertIn("Counted.", again.stdout)
        self.assertIn("run r is over", again.stderr)
        self.assertEqual(self.ok(*start, "-d").stdout.strip(), "r")
        self.assertEqual(len(self.keys()), 1)
        other = "with another charter or input"
        self.refused("run", charter, "Stop.", "--id", "r", "--file", "notes.txt", code=1,
                     says=other)
        self.refused("run", charter, "Go.", "--id", "r", code=1, says=other)
        self.refused("run", charter, "Stop.", "--id", "r", "-d", code=1, says=other)
        self.write("notes.txt", "bread")
        self.refused(*start, code=1, says=other)
        self.write("notes.txt", "milk")
        self.counting(2, "")  # the script and the charter beside it are another's now
        self.ok(*start)
        self.counting(1, "limits: { steps: 9 }\n")
        self.refused(*start, code=1, says=other)
        self.assertIn("Counted.", first.stdout)

    def test_a_start_that_was_killed_is_taken_up_and_one_under_way_is_watched(self):
        start = ("run", self.gated(effect="idempotent"), "--id", "r")
        process = self.start(*start)
        self.wait_for_keys(1)
        process.kill()
        process.wait()
        process = self.start(*start)
        self.wait_for_keys(2)
        watching = self.start(*start)
        self.open_gate()
        for one in (process, watching):
            self.assertIn("Passed.", self.end(one, 0)[0])
        self.assertEqual(len(set(self.keys())), 1)
        self.ok("verify", "r")

    def test_a_command_that_returns_non_zero_is_an_answer(self):
        commands = ("grep nothing go.txt", "test -e nowhere", "false", "exit 7", "ls nowhere")
        replies = "".join(f"  - call: [{{ tool: bash, input: {{ command: '{one}' }} }}]\n"
                          for one in commands)
        (self.directory / "work").mkdir()
        self.write("work/go.txt", "something")
        more = "tools: { use: [bash] }\nsandbox: { write: [work], directory: work }\n"
        charter = self.charter("c", replies + "  - text: Looked.\n", more=more)
        ran = self.ok("run", charter, "--id", "r")
        self.assertIn("Looked.", ran.stdout)
        codes = [json.loads(event["content"])["exit_code"] for event in self.events("r")
                 if event["type"] == "tool_finished"]
        self.assertEqual(codes, [1, 1, 1, 7, 2])


if __name__ == "__main__":
    main()
