#!/usr/bin/env python3
"""Runs beneath a run, from outside: agents, kills, approvals, one budget, control."""

import json
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
CALL = "{ tool: agent__crew, input: { input: go } }"
SAID = "  - text: The crew is done.\n"


class Agents(Stage):
    def lead(self, crew, agents="  crew: { charter: crew.yaml }\n", calls=1, more="", of_crew="",
             last="All of it is done."):
        """A charter lead.yaml whose model calls the agent `crew`, a charter with these replies."""
        self.write("act.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n"
                   "while [ -e hold ]; do sleep 0.02; done\necho acted\n", 0o755)
        all_calls = ", ".join(CALL.replace("go", f"go {n}") for n in range(calls))
        self.write("lead.script.yaml", f"replies:\n  - call: [{all_calls}]\n"
                   f"  - text: {last}\n  - text: More.\n")
        self.write("crew.script.yaml", f"replies:\n{crew}")
        self.write("crew.yaml", "name: crew\nmodel: scripted/crew.script.yaml\n"
                   f"instructions: Act.\n{of_crew}{ACT}")
        self.write("lead.yaml", "name: lead\nmodel: scripted/lead.script.yaml\n"
                   f"instructions: Lead.\n{more}{ACT}agents:\n{agents}")
        return "lead.yaml"

    def listed(self):
        return {one["run"]: one for one in json_lines(self.ok("ls", "--tree", "--json").stdout)}

    def children(self, run="r"):
        return json.loads(self.ok("tree", run, "--json").stdout)["children"]

    def child(self, run="r"):
        return self.children(run)[0]["run"]

    def results(self, run="r"):
        return [one["content"] for one in self.events(run) if one["type"] == "tool_finished"]

    def test_a_child_is_a_run_whose_output_is_the_result_of_the_call(self):
        charter = self.lead(f"  - call: [{{ tool: act, input: {{}} }}]\n{SAID}")
        self.assertIn("All of it is done.", self.ok("run", charter, "x", "--id", "r").stdout)
        self.assertEqual(self.results(), ["The crew is done."])
        children = self.children()
        self.assertEqual([(one["call"], one["agent"], one["status"]) for one in children],
                         [("c1", "crew", "done")])
        child = children[0]["run"]
        self.assertEqual([one["run"] for one in json_lines(self.ok("ls", "--json").stdout)], ["r"])
        tree = self.listed()
        self.assertEqual(list(tree), ["r", child])
        self.assertEqual((tree[child]["parent"], tree[child]["call"], tree[child]["agent"]),
                         ("r", "c1", "crew"))
        self.assertIsNone(tree["r"]["parent"])
        self.assertIn(f"  {child}", self.ok("ls", "--tree").stdout)
        first = self.events(child)[0]
        self.assertEqual([(one["run"], one["call"], one["agent"]) for one in first["lineage"]],
                         [("r", "c1", "crew")])
        for run in ("r", child):
            self.assertIn("same", self.ok("replay", run).stdout)
            self.ok("verify", run)
        spent = [self.summary(run)["usage"] for run in ("r", child)]
        self.assertGreater(spent[0]["total_tokens"], spent[1]["total_tokens"])
        self.assertEqual((spent[0]["steps"], spent[1]["steps"]), (2, 2))

    def test_agents_in_place_and_made_up_ones_have_tools_of_their_parent(self):
        self.write("m.script.yaml", "replies:\n"
                   "  - call: [{ tool: agent__helper, input: { input: look } },"
                   " { tool: run_subagent, input: { prompt: look, tools: [act], max_steps: 3,"
                   " model: scripted/h.script.yaml } },"
                   " { tool: run_subagent, input: { prompt: look, tools: [bash] } }]\n"
                   "  - text: Done.\n")
        self.write("h.script.yaml", "replies:\n  - call: [{ tool: act, input: {} }]\n"
                   "  - text: Looked.\n")
        self.write("act.sh", "#!/bin/sh\necho acted\n", 0o755)
        self.write("m.yaml", "name: m\nmodel: scripted/m.script.yaml\ninstructions: Lead.\n"
                   f"{ACT}agents:\n  helper: {{ instructions: Look., tools: [act],"
                   " model: scripted/h.script.yaml }\n"
                   "subagents: { adhoc: true }\n")
        self.ok("run", "m.yaml", "x", "--id", "r")
        results = sorted(self.results())
        self.assertEqual(results[:2], ["Looked.", "Looked."])
        self.assertIn("not started", results[2])
        self.assertIn("bash", results[2])
        children = self.children()
        self.assertEqual([one["agent"] for one in children],
                         ["helper", "run_subagent", "run_subagent"])
        self.assertEqual([one["status"] for one in children], ["done", "done", "unknown"])
        self.assertEqual(self.summary(children[1]["run"])["limits"]["steps"], 3)

    def test_kill_9_in_the_middle_of_a_child_loses_and_repeats_nothing(self):
        charter = self.lead(f"  - call: [{{ tool: act, input: {{}} }}]\n{SAID}")
        (self.directory / "hold").touch()
        process = self.start("run", charter, "x", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.wait()
        self.assertEqual(self.listed()["r"]["status"], "running")
        (self.directory / "hold").unlink()
        self.ok("resume", "r")
        self.assertEqual(self.results(), ["The crew is done."])
        self.assertEqual(len(set(self.keys())), 1)
        self.assertEqual(len(self.children()), 1)
        self.assertEqual(self.status(self.child()), "done")

    def test_an_approval_in_a_child_holds_its_parent_and_wakes_it(self):
        for alone in (False, True):
            run = f"r{alone}"
            charter = self.lead(f"  - call: [{{ tool: act, input: {{}} }}]\n{SAID}",
                                of_crew="approvals: always_require\n")
            self.ok("run", charter, "x", "--id", run, code=4)
            self.assertEqual((self.summary(run)["status"], self.summary(run)["reason"]),
                             ("waiting", "children"))
            child = self.child(run)
            asked = json_lines(self.ok("approvals", "--json").stdout)
            self.assertEqual([(one["run"], one["parent"], one["agent"]) for one in asked],
                             [(child, run, "crew")])
            self.assertIn(f"of run {run}", self.ok("approvals").stdout)
            self.assertIn(child, self.ok("explain", run).stdout)
            self.ok("resume", run, code=4)  # still nobody has decided
            self.ok("approve", child, "c1")
            if alone:
                self.ok("resume", child)
                self.assertEqual(self.status(run), "waiting")
            self.ok("resume", run)
            self.assertEqual(self.results(run), ["The crew is done."])
        self.assertEqual(len(self.keys()), 2)

    def test_one_budget_holds_over_parent_and_children_and_kills(self):
        usage = "    usage: { input: 100, output: 100 }\n"
        replies = (f"  - call: [{{ tool: act, input: {{}} }}]\n{usage}" * 2
                   + f"  - text: The crew is done.\n{usage}")
        charter = self.lead(replies, calls=3, more="budget: { tokens: 6000 }\n")
        (self.directory / "hold").touch()
        process = self.start("run", charter, "x", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.wait()
        (self.directory / "hold").unlink()
        code = self.pawl("resume", "r").returncode
        for _ in range(20):
            self.assertLessEqual(self.summary("r")["usage"]["total_tokens"], 6000)
            if code == 0:
                break
            self.assertEqual(code, 4)
            said = self.ok("explain", "r").stdout + "".join(
                self.ok("explain", one["run"]).stdout for one in self.children())
            self.assertIn("pawl budget r", said)
            code = self.pawl("resume", "r").returncode
            if code == 4:
                break
        if code == 4:
            self.ok("budget", "r", "--raise-tokens", "100000")
            self.ok("resume", "r")
        self.assertEqual(self.results(), ["The crew is done."] * 3)
        own = sum(self.summary(one["run"])["usage"]["total_tokens"] for one in self.children())
        self.assertGreater(self.summary("r")["usage"]["total_tokens"], own)

    def test_depth_number_and_places_are_bounded_in_words(self):
        charter = self.lead(SAID, calls=4,
                            more="subagents: { descendants: 3, at_a_time: 1 }\n")
        self.ok("run", charter, "x", "--id", "r")
        self.assertEqual(len(self.children()), 3)
        denied = [one for event in self.events("r") for one in event["decisions"]
                  if one["type"] == "call_denied"]
        self.assertEqual([one["rule"] for one in denied], ["subagents.descendants"])
        self.assertIn("no more than 3 runs", denied[0]["text"])

    def test_cancel_and_pause_reach_children_within_a_second(self):
        charter = self.lead(f"  - call: [{{ tool: act, input: {{}} }}]\n{SAID}")
        (self.directory / "hold").touch()
        process = self.start("run", charter, "x", "--id", "r")
        self.wait_for_keys(1)
        child = self.child()
        begun = time.monotonic()
        self.ok("cancel", "r")
        self.wait_for(lambda: self.status(child) == "cancelled", "the child's end")
        self.assertLess(time.monotonic() - begun, 3)
        process.wait()
        self.assertEqual(self.status("r"), "cancelled")

    def test_a_cancel_reaches_a_child_that_waits(self):
        charter = self.lead(f"  - call: [{{ tool: act, input: {{}} }}]\n{SAID}",
                            of_crew="approvals: always_require\n")
        self.ok("run", charter, "x", "--id", "r", code=4)
        child = self.child()
        self.ok("cancel", "r")
        self.assertEqual((self.status("r"), self.status(child)), ("cancelled", "cancelled"))

    def test_a_child_that_is_stopped_says_so(self):
        charter = self.lead("  - call: [{ tool: act, input: {} }]\n" * 9,
                            agents="  crew: { charter: crew.yaml, limits: { steps: 2 } }\n")
        self.ok("run", charter, "x", "--id", "r")
        result = json.loads(self.results()[0])
        self.assertEqual((result["status"], result["stop_reason"]), ("stopped", "steps"))

    def test_the_campaign_without_a_flow_runs_offline(self):
        shutil.copytree(SOURCE / "examples/machine", self.directory / "machine")
        self.ok("run", "machine/campaign_lead.yaml", "Prepare.", "--id", "r")
        self.assertEqual([one["agent"] for one in self.children()], ["site", "site"])


if __name__ == "__main__":
    main()
