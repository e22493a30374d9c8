#!/usr/bin/env python3
"""Phases of a flow that agents carry out, from outside: campaigns, kills, one budget, control."""

import json
import random
import shutil
import time

from support import SOURCE, Stage, json_lines, main

ACT = """tools:
  define:
    act:
      description: Acts.
      command: [./act.sh]
      effect: idempotent
      input: { type: object }
"""
TWICE = "  - call: [{ tool: act, input: {} }]\n" * 2 + "  - text: It is done.\n"


class Campaign(Stage):
    def campaign(self, items, replies=TWICE, phase="", agent="", of_crew="", more="",
                 close="  - text: All is done.\n"):
        """A charter c.yaml: a run of crew.yaml with these replies for each item of the input."""
        self.write("act.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n"
                   "while [ -e hold ]; do sleep 0.02; done\necho acted\n", 0o755)
        self.write("crew.script.yaml", f"replies:\n{replies}")
        self.write("close.script.yaml", f"replies:\n{close}")
        self.write("crew.yaml", "name: crew\nmodel: scripted/crew.script.yaml\n"
                   f"instructions: Act.\n{of_crew}{ACT}")
        self.write("c.yaml", f"name: c\nmodel: scripted/close.script.yaml\n{more}{ACT}"
                   "flow:\n  phases:\n"
                   "    - name: work\n      agent: crew\n      prompt: \"Do {{item}}.\"\n"
                   f"      map: {{ over: /input, max: 3{phase} }}\n"
                   "    - { name: close, node: lead, after: [work] }\n"
                   "nodes:\n  lead: { instructions: Close. }\n"
                   f"agents:\n  crew: {{ charter: crew.yaml{agent} }}\n")
        self.items = json.dumps(items)
        return "c.yaml"

    def tree(self, run="r"):
        return json.loads(self.ok("tree", run, "--json").stdout)

    def phases(self, run="r"):
        return {one["name"]: (one["status"], one["output"]) for one in self.tree(run)["phases"]}

    def children(self, run="r"):
        return self.tree(run)["children"]

    def check_journals(self, run="r"):
        for one in (run, *(child["run"] for child in self.children(run))):
            self.assertIn("same", self.ok("replay", one).stdout)
            self.ok("verify", one)

    def test_the_example_runs_offline(self):
        shutil.copytree(SOURCE / "examples/machine", self.directory / "machine")
        self.ok("validate", "machine/campaign.yaml")
        self.ok("run", "machine/campaign.yaml", "--id", "r")
        self.assertEqual(self.phases()["sites"], ("done", ["The site is prepared."] * 2))
        self.assertEqual(self.summary("r")["output"], "Both sites are prepared.")
        children = self.children()
        self.assertEqual([(one["agent"], one["status"]) for one in children],
                         [("site", "done")] * 2)
        listed = {one["run"]: one for one in json_lines(self.ok("ls", "--tree", "--json").stdout)}
        for child in children:
            one = listed[child["run"]]
            self.assertEqual((one["parent"], one["call"]), ("r", child["call"]))
            told = [event["input"] for event in self.events(child["run"])
                    if event["type"] == "run_started"]
            self.assertIn(told[0], ("Prepare the site Rome.", "Prepare the site Oslo."))
        self.assertIn("agent__site", self.ok("tree", "r").stdout)
        self.check_journals()

    def test_every_item_is_a_run_and_outputs_are_in_their_order(self):
        charter = self.campaign(["a", "b", "c", "d"])
        self.ok("run", charter, self.items, "--id", "r")
        self.assertEqual(self.phases()["work"], ("done", ["It is done."] * 4))
        self.assertEqual(len(set(self.keys())), 8)
        told = sorted(self.events(one["run"])[0]["input"] for one in self.children())
        self.assertEqual(told, ["Do a.", "Do b.", "Do c.", "Do d."])
        self.check_journals()

    def test_kills_at_random_instants_repeat_nothing_and_lose_nothing(self):
        dice = random.Random(16)
        charter = self.campaign(["a", "b", "c", "d", "e"])
        process = self.start("run", charter, self.items, "--id", "r")
        self.wait_for(lambda: self.pawl("show", "r").returncode == 0, "the run")
        for _ in range(8):
            time.sleep(dice.random() * 0.4)
            process.kill()
            process.wait()
            if self.status("r") == "done":
                break
            process = self.start("resume", "r")
        process.wait()
        if self.status("r") != "done":
            self.ok("resume", "r")
        self.assertEqual(self.phases()["work"], ("done", ["It is done."] * 5))
        self.assertEqual(len(self.children()), 5)
        # A call that was cut short is made again with its key: as many effects as calls.
        self.assertEqual(len(set(self.keys())), 10)
        self.check_journals()

    def test_kills_in_a_tree_of_flows_repeat_nothing_and_lose_nothing(self):
        dice = random.Random(30)
        self.campaign([])
        self.write("top.yaml", "name: top\nmodel: scripted/close.script.yaml\n"
                   f"limits: {{ branches: 20 }}\n{ACT}subagents: {{ at_a_time: 3 }}\n"
                   "flow:\n  phases:\n"
                   "    - { name: a, agent: c, prompt: \"[1,2]\" }\n"
                   "    - { name: b, agent: c, prompt: \"[3,4]\" }\n"
                   "    - { name: end, node: lead, after: [a, b] }\n"
                   "nodes:\n  lead: { instructions: Close. }\n"
                   "agents:\n  c: { charter: c.yaml }\n")
        process = self.start("run", "top.yaml", "x", "--id", "r")
        self.wait_for(lambda: self.pawl("show", "r").returncode == 0, "the run")
        for _ in range(8):
            time.sleep(dice.random() * 0.5)
            process.kill()
            process.wait()
            if self.status("r") == "done":
                break
            process = self.start("resume", "r")
        process.wait()
        if self.status("r") != "done":
            self.ok("resume", "r")
        runs = json_lines(self.ok("ls", "--tree", "--json").stdout)
        self.assertEqual([one["status"] for one in runs], ["done"] * 7)
        self.assertEqual(len(set(self.keys())), 8)
        for one in runs:
            self.assertIn("same", self.ok("replay", one["run"]).stdout)

    def test_a_child_whose_effect_is_done_is_not_begun_again(self):
        charter = self.campaign(["a"], replies="  - call: [{ tool: act, input: {} }]\n"
                                "  - call: [{ tool: act, input: { n: 2 } }]\n  - text: Done.\n")
        (self.directory / "hold").touch()
        process = self.start("run", charter, self.items, "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.wait()
        before = self.children()
        (self.directory / "hold").unlink()
        self.ok("resume", "r")
        self.assertEqual([one["run"] for one in self.children()],
                         [one["run"] for one in before])
        self.assertEqual(len(set(self.keys())), 2)
        self.assertEqual(self.phases()["work"], ("done", ["Done."]))

    def test_a_failed_run_is_an_error_in_its_place_or_fails_the_phase(self):
        bad = "  - error: { category: validation_error, message: no such key }\n"
        charter = self.campaign(["a"], replies=bad)
        self.ok("run", charter, self.items, "--id", "r", code=3)
        child = self.children()[0]["run"]
        explained = self.ok("explain", "r").stdout
        self.assertIn(f"its run {child} is failed", explained)
        charter = self.campaign(["a", "b"], replies=bad, phase=", tolerate: 2")
        self.ok("run", charter, self.items, "--id", "t")
        outputs = self.phases("t")["work"][1]
        self.assertEqual([list(one) for one in outputs], [["error"]] * 2)

    def test_a_limit_of_the_agent_or_the_phase_stops_the_run_and_it_hands_on(self):
        charter = self.campaign(["a"], agent=", limits: { steps: 1 }",
                                replies="  - text: Half.\n    call: [{ tool: act, input: {} }]\n"
                                "  - text: Whole.\n")
        self.ok("run", charter, self.items, "--id", "r")
        self.assertEqual(self.phases()["work"], ("done", ["Half."]))
        self.assertEqual(self.children()[0]["status"], "stopped")
        self.write("c.yaml", (self.directory / "c.yaml").read_text(encoding="utf-8")
                   .replace(", limits: { steps: 1 }", "")
                   .replace("agent: crew\n", "agent: crew\n      limits: { steps: 1 }\n"))
        self.ok("run", charter, self.items, "--id", "s")
        self.assertEqual(self.phases("s")["work"], ("done", ["Half."]))

    def test_the_output_is_json_where_the_agent_says_so(self):
        schema = "output: { schema: { type: object, required: [n] } }\n"
        charter = self.campaign(["a"], replies="  - text: '{\"n\": 1}'\n", of_crew=schema)
        self.ok("run", charter, self.items, "--id", "r")
        self.assertEqual(self.phases()["work"], ("done", [{"n": 1}]))
        charter = self.campaign(["a"], replies="  - text: '{\"n\": 1}'\n")
        self.ok("run", charter, self.items, "--id", "s")
        self.assertEqual(self.phases("s")["work"], ("done", ['{"n": 1}']))

    def test_an_approval_in_one_run_holds_the_flow_and_wakes_it(self):
        charter = self.campaign(["a", "b"], replies="  - call: [{ tool: act, input: {} }]\n"
                                "  - text: Done.\n", of_crew="approvals: always_require\n")
        self.ok("run", charter, self.items, "--id", "r", code=4)
        self.assertEqual(self.summary("r")["reason"], "children")
        asked = json_lines(self.ok("approvals", "--json").stdout)
        self.assertEqual([(one["parent"], one["agent"]) for one in asked], [("r", "crew")] * 2)
        explained = self.ok("explain", "r").stdout
        for one in asked:
            self.assertIn(one["run"], explained)
            self.ok("approve", one["run"], "c1")
        self.ok("resume", "r")
        self.assertEqual(self.phases()["work"], ("done", ["Done."] * 2))
        self.check_journals()

    def test_a_run_that_was_given_up_gives_its_place_back_whoever_drives_its_parent(self):
        self.campaign([], replies="  - call: [{ tool: act, input: {} }]\n  - text: Done.\n",
                      of_crew="approvals: always_require\n")
        self.write("two.yaml", "name: two\nmodel: scripted/close.script.yaml\n"
                   f"{ACT}subagents: {{ at_a_time: 1 }}\n"
                   "flow:\n  phases:\n    - { name: a, agent: crew }\n"
                   "    - { name: b, agent: crew }\n"
                   "agents:\n  crew: { charter: crew.yaml }\n")
        self.ok("run", "two.yaml", "x", "--id", "r", code=4)
        self.assertEqual(len(self.children()), 1)
        self.ok("phase", "r", "a", "abandon")
        self.ok("resume", "r", code=4)
        self.wait_for(lambda: len(self.children()) == 2, "the second run")
        first, second = self.children()
        self.assertEqual((first["status"], second["status"]), ("cancelled", "waiting"))
        self.ok("approve", second["run"], "c1")
        self.ok("resume", "r")
        self.assertEqual(self.phases()["b"], ("done", "Done."))

    def test_cancel_and_pause_reach_every_run_within_a_second(self):
        charter = self.campaign(["a", "b"])
        (self.directory / "hold").touch()
        process = self.start("run", charter, self.items, "--id", "r")
        self.wait_for_keys(2)
        children = [one["run"] for one in self.children()]
        explained = self.ok("explain", "r").stdout
        for child in children:
            self.assertIn(f"Run {child} of the agent crew is under way", explained)
        self.ok("pause", "r")
        (self.directory / "hold").unlink()
        process.wait()
        self.assertEqual([self.summary(one)["reason"] for one in ("r", *children)],
                         ["paused"] * 3)
        (self.directory / "hold").touch()
        process = self.start("resume", "r")
        self.wait_for_keys(4)
        begun = time.monotonic()
        self.ok("cancel", "r")
        self.wait_for(lambda: [self.status(one) for one in children] == ["cancelled"] * 2,
                      "their ends")
        self.assertLess(time.monotonic() - begun, 3)
        process.wait()
        self.assertEqual(self.status("r"), "cancelled")

    def test_a_phase_is_cancelled_and_run_again_with_other_runs(self):
        charter = self.campaign(["a"], replies="  - call: [{ tool: act, input: {} }]\n"
                                "  - text: Done.\n")
        (self.directory / "hold").touch()
        process = self.start("run", charter, self.items, "--id", "r")
        self.wait_for_keys(1)
        first = self.children()[0]["run"]
        self.ok("phase", "r", "work", "cancel")
        process.wait()
        self.wait_for(lambda: self.status(first) == "cancelled", "its end")
        self.assertEqual(self.phases()["work"][0], "cancelled")
        (self.directory / "hold").unlink()
        self.ok("phase", "r", "work", "rerun")
        self.ok("resume", "r")
        self.assertEqual(self.phases()["work"], ("done", ["Done."]))
        self.assertEqual(len(self.children()), 2)

    def test_one_budget_holds_over_all_of_them_and_kills(self):
        usage = "    usage: { input: 100, output: 100 }\n"
        replies = (f"  - call: [{{ tool: act, input: {{}} }}]\n{usage}" * 2
                   + f"  - text: It is done.\n{usage}")
        charter = self.campaign(["a", "b", "c"], replies=replies,
                                close=f"  - text: All is done.\n{usage}",
                                more="budget: { tokens: 6000 }\n")
        (self.directory / "hold").touch()
        process = self.start("run", charter, self.items, "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.wait()
        (self.directory / "hold").unlink()
        code = self.pawl("resume", "r").returncode
        self.assertLessEqual(self.summary("r")["usage"]["total_tokens"], 6000)
        self.assertIn(code, (0, 4))
        if code == 4:
            self.ok("budget", "r", "--raise-tokens", "100000")
            self.ok("resume", "r")
        self.assertEqual(self.phases()["work"], ("done", ["It is done."] * 3))
        own = sum(self.summary(one["run"])["usage"]["total_tokens"] for one in self.children())
        self.assertGreaterEqual(self.summary("r")["usage"]["total_tokens"], own)


if __name__ == "__main__":
    main()
