#!/usr/bin/env python3
"""The rules of flows and subagents, M16 to M30, a test or more for each, named after it. What has a
test of its own beside these is in flow_test.py, agents_test.py and campaign_test.py."""

import json
import time

from support import Stage, json_lines, main


def says(*texts):
    return "".join(f"  - text: {json.dumps(text)}\n" for text in texts)


class FlowRules(Stage):
    def flow(self, phases, scripts, more="", nodes="", name="f"):
        """A charter of `phases`; each script of `scripts` is the model of a node of that name."""
        for node, replies in scripts.items():
            self.write(f"{node}.script.yaml", f"replies:\n{replies}")
            if f"  {node}:" not in nodes:
                nodes += (f"  {node}:\n    model: scripted/{node}.script.yaml\n"
                          "    instructions: Go.\n")
        head = f"nodes:\n{nodes}" if nodes else ""
        self.write(f"{name}.yaml", f"name: {name}\n{more}flow:\n  phases:\n{phases}{head}")
        return f"{name}.yaml"

    def node(self, name, more):
        return (f"  {name}:\n    model: scripted/{name}.script.yaml\n    instructions: Go.\n"
                f"    {more}\n")

    def tree(self, run="r"):
        return json.loads(self.ok("tree", run, "--json").stdout)

    def phases(self, run="r"):
        return {one["name"]: (one["status"], one["output"]) for one in self.tree(run)["phases"]}

    def told(self, run="r"):
        return [one["input"] for event in self.events(run) for one in event["decisions"]
                if one["type"] == "child_born"]

    def faults(self, charter, *says_these):
        told = self.ok("validate", charter, code=2)
        for one in says_these:
            self.assertIn(one, told.stdout + told.stderr)

    # --- M16 to M24: flows -----------------------------------------------------------------------

    def test_m16_faults_at_load(self):
        for phases, says_this in (
                ("    - { name: a, node: n, after: [b] }\n    - { name: b, node: n, after: [a] }\n",
                 "wait for each other"),
                ("    - { name: a, node: n, after: [x] }\n", '"x"'),
                ("    - { name: a, node: nn }\n", '"nn"'),
                ("    - { name: a, agent: nn }\n", '"nn"')):
            self.faults(self.flow(phases, {"n": says("x")}), says_this, "f.yaml:")
        unused = self.flow("    - { name: a, node: n }\n", {"n": says("x"), "m": says("y")})
        self.faults(unused, "nodes.m: nothing leads to this node")
        both = self.flow("    - { name: a, node: n }\n", {"n": says("x")}, "start: n\n")
        self.faults(both, "start")

    def test_m16_phases_run_side_by_side_and_when_leaves_one_out(self):
        slow = "  - { text: slow, delay: 1s }\n"
        charter = self.flow(
            "    - { name: a, node: a }\n    - { name: b, node: b }\n"
            "    - { name: c, node: c, after: [a], when: { /phases/a/output: other } }\n"
            "    - { name: d, node: d, after: [c], prompt: \"<{{phases.c.output}}>\" }\n",
            {"a": slow, "b": slow, "c": says("never"), "d": says("end")})
        begun = time.monotonic()
        self.ok("run", charter, "x", "--id", "r")
        self.assertLess(time.monotonic() - begun, 1.9)
        phases = self.phases()
        self.assertEqual((phases["c"], phases["d"]), (("left_out", None), ("done", "end")))
        self.assertIn("<>", self.told())
        root = self.tree()["instances"][0]
        self.assertEqual((root["id"], root["parent"], root["node"]), ("i1", None, None))

    def test_m17_templates_and_the_output_of_several_last_phases(self):
        schema = "output: { schema: { type: object } }"
        charter = self.flow(
            "    - { name: a, node: a }\n"
            "    - { name: b, node: b, after: [a], prompt: \"{{vars.x}} {{x}} {{input}} "
            "{{phases.a.output/list/1}} {{phases.a.output/none}}. {{phases.a.output}}\" }\n"
            "    - { name: c, node: c, after: [a] }\n",
            {"a": says('{"list":[1,{"k":"{{input}}"}]}'), "b": says("B"), "c": says("C")},
            "vars: { x: v }\n", self.node("a", schema))
        self.ok("run", charter, "in", "--id", "r")
        self.assertIn('v v in {"k":"{{input}}"} . {"list":[1,{"k":"{{input}}"}]}', self.told())
        self.assertIn('{"list":[1,{"k":"{{input}}"}]}', self.told())
        self.assertEqual(json.loads(self.summary("r")["output"]), {"b": "B", "c": "C"})

    def test_m18_optional_fallback_and_limits(self):
        bad = "  - error: { category: validation_error, message: broken }\n"
        call = "  - text: so far\n    call: [{ tool: cede, input: {} }]\n"
        charter = self.flow(
            "    - { name: a, node: a, optional: true, fallback: [1, 2] }\n"
            "    - { name: b, node: b, limits: { steps: 1 } }\n"
            "    - { name: c, node: c, after: [a, b] }\n",
            {"a": bad, "b": call + says("too late"), "c": says("end")})
        self.ok("run", charter, "x", "--id", "r")
        phases = self.phases()
        self.assertEqual(phases["a"][1], [1, 2])
        self.assertEqual(phases["b"], ("done", "so far"))
        charter = self.flow("    - { name: a, node: a }\n    - { name: b, node: b }\n",
                            {"a": bad, "b": "  - { text: B, delay: 500ms }\n"})
        self.ok("run", charter, "x", "--id", "s", code=3)
        phases = self.phases("s")
        self.assertEqual((phases["a"][0], phases["b"]), ("failed", ("done", "B")))

    def test_m19_a_map_and_what_is_no_list(self):
        bad = "  - error: { category: validation_error, message: broken }\n"
        charter = self.flow("    - { name: m, node: n, map: { over: /input, tolerate: 2 } }\n",
                            {"n": bad})
        self.ok("run", charter, '["a","b"]', "--id", "r")
        self.assertEqual([list(one) for one in self.phases()["m"][1]], [["error"]] * 2)
        self.ok("run", charter, "[]", "--id", "e")
        self.assertEqual(self.phases("e")["m"], ("done", []))
        said = self.ok("run", charter, "text", "--id", "t", code=3)
        self.assertIn("a map is over a list", said.stdout + said.stderr)

    def test_m19_a_list_that_does_not_fit_is_refused_where_it_is_given(self):
        charter = self.flow("    - { name: m, node: n, map: { over: /input } }\n", {"n": says("x")})
        million = json.dumps(list(range(1_000_000)), separators=(",", ":"))
        said = self.pawl("run", charter, "--id", "r", "-", stdin=million)
        self.assertIn(said.returncode, (1, 2))
        self.assertIn("the input of a flow has at most 262144 bytes", said.stderr)
        self.assertIn("give the flow the name of a file", said.stderr)
        self.assertEqual(json_lines(self.ok("ls", "--json").stdout), [])

    def test_m20_a_checkpoint_shows_question_and_outputs(self):
        charter = self.flow("    - { name: a, node: a }\n"
                            "    - { name: sign, after: [a], checkpoint: \"Good to go?\" }\n"
                            "    - { name: b, node: b, after: [sign] }\n",
                            {"a": says("A"), "b": says("end")})
        for run, words, told in (("r", ("approve", "r", "c1"), "A"),
                                 ("s", ("answer", "s", "mine"), "mine")):
            self.ok("run", charter, "x", "--id", run, code=4)
            shown = self.ok("approvals").stdout
            self.assertIn("Good to go?", shown)
            self.assertIn("A", shown)
            self.ok(*words)
            self.ok("resume", run)
            self.assertEqual(self.told(run)[-1], told)
        self.ok("run", charter, "x", "--id", "t", code=4)
        self.ok("deny", "t", "c1", "--reason", "not yet")
        self.ok("resume", "t", code=3)
        self.assertIn("not yet", self.ok("explain", "t").stdout)

    def test_m21_events_are_kept_and_taken_oldest_first_or_all(self):
        for batch, output in (("", 1), (", batch: true", [1, 2])):
            run = f"r{len(batch)}"
            charter = self.flow("    - { name: a, node: a }\n"
                                f"    - {{ name: w, after: [a], await: {{ event: e{batch} }} }}\n"
                                "    - { name: go, after: [a], await: { event: go } }\n",
                                {"a": says("A")})
            self.ok("run", charter, "x", "--id", run, code=4)
            self.ok("phase", run, "w", "abandon")
            self.ok("resume", run, code=4)
            for number in ("1", "2"):
                self.ok("event", run, "e", number)
            self.ok("resume", run, code=4)  # else the control would come before them
            self.ok("phase", run, "w", "rerun")
            self.ok("event", run, "go")
            self.ok("resume", run)
            self.assertEqual(self.phases(run)["w"], ("done", output))
            self.assertEqual(self.phases(run)["go"], ("done", None))

    def test_m22_items_hold_the_end_and_escalated_ones_do_not(self):
        add = "  - call: [{ tool: work_item_add, input: { title: tidy } }]\n"
        leave = "  - call: [{ tool: work_item_escalate, input: { id: w1, reason: not mine } }]\n"
        self.ok("run", self.flow("    - { name: a, node: a }\n",
                                 {"a": add + says("done") + leave + says("end")},
                                 "gate: { blocks: 2 }\n"), "x", "--id", "r")
        items = self.tree()["work_items"]
        self.assertEqual([(one["id"], one["status"]) for one in items], [("w1", "escalated")])
        self.ok("run", self.flow("    - { name: a, node: a }\n",
                                 {"a": add + says("done", "done", "done", "done")},
                                 "gate: { blocks: 2 }\n"), "x", "--id", "s", code=3)
        self.assertIn("tidy", self.ok("explain", "s").stdout)

    def test_m23_steps_are_discovered_so_many_and_so_deep(self):
        find, again, third = (f"{{ tool: discover_step, input: {{ node: b, input: look {n},"
                              " reason: r } }" for n in range(3))
        charter = self.flow(
            "    - { name: a, node: a }\n    - { name: c, node: c, after: [a] }\n",
            {"a": f"  - call: [{find}, {again}, {third}]\n" + says("A"), "b": says("B"),
             "c": says("C")}, "",
            self.node("a", "discover: { nodes: [b], max: 2, depth: 1 }"))
        self.ok("run", charter, "x", "--id", "r")
        ran = [one["node"] for event in self.events("r") for one in event["decisions"]
               if one["type"] == "child_born"]
        self.assertEqual(ran, ["a", "b", "b", "c"])
        self.assertEqual(self.phases()["a"], ("done", "A"))

    def test_m24_controls_of_phases(self):
        charter = self.flow("    - { name: a, checkpoint: \"Go?\" }\n"
                            "    - { name: b, node: b, after: [a] }\n"
                            "    - { name: c, node: c, after: [b] }\n",
                            {"b": says("B"), "c": says("C")})
        self.ok("run", charter, "x", "--id", "r", code=4)
        self.ok("phase", "r", "b", "skip")
        self.ok("resume", "r", code=4)
        self.refused("phase", "r", "b", "skip", code=1, says="only one that has not begun")
        self.refused("phase", "r", "c", "start", code=1, says="")
        self.ok("phase", "r", "a", "abandon")
        self.ok("resume", "r")
        self.assertEqual({name: one[0] for name, one in self.phases().items()},
                         {"a": "abandoned", "b": "skipped", "c": "done"})
        self.ok("phase", "r", "b", "rerun")
        self.ok("resume", "r")
        self.assertEqual({name: one[0] for name, one in self.phases().items()},
                         {"a": "abandoned", "b": "done", "c": "done"})

    def test_m24_a_control_is_judged_by_what_those_before_it_will_have_done(self):
        charter = self.flow("    - { name: a, checkpoint: \"Go?\" }\n"
                            "    - { name: b, node: b, after: [a] }\n", {"b": says("B")})
        self.ok("run", charter, "x", "--id", "r", code=4)
        self.ok("phase", "r", "b", "skip")
        self.refused("phase", "r", "b", "skip", code=1, says="phase b is skipped")
        self.ok("phase", "r", "b", "rerun")
        self.ok("phase", "r", "a", "abandon")
        self.ok("resume", "r")
        self.assertEqual(self.phases()["b"], ("done", "B"))

    def test_m13_the_root_of_a_flow_reads_and_does_nothing(self):
        charter = self.flow("    - { name: a, checkpoint: \"Go?\" }\n"
                            "    - { name: b, node: b, after: [a] }\n", {"b": says("B")})
        self.ok("run", charter, "x", "--id", "r", code=4)
        for words in (("message", "r", "hello"), ("message", "r", "hello", "--instance", "i1")):
            self.refused(*words, code=1, says="is the root of a flow and reads nothing")
        for words in (("command", "r", "go"), ("command", "r", "go", "{}", "--instance", "i1")):
            self.refused(*words, code=1, says="i1 is in no node that has commands")
        self.refused("state", "r", "--set", "{}", code=1, says="there is no such state")
        self.assertEqual(self.events("r")[-1]["type"], "run_waiting")

    def test_m15_a_flow_is_forked_at_a_step_of_a_phase(self):
        charter = self.flow("    - { name: a, node: a }\n"
                            "    - { name: b, node: b, after: [a] }\n"
                            "    - { name: sign, after: [b], checkpoint: \"Go?\" }\n"
                            "    - { name: c, node: c, after: [sign] }\n",
                            {"a": says("A"), "b": says("B"), "c": says("C")})
        self.ok("run", charter, "x", "--id", "r", code=4)
        self.ok("approve", "r")
        self.ok("resume", "r")
        self.ok("fork", "r", "--at", "i2:1", "--id", "f", code=4)
        self.assertEqual(self.phases("f")["sign"][0], "waiting")
        self.assertEqual(self.phases("f")["a"], ("done", "A"))
        self.ok("answer", "f", "other")
        self.ok("resume", "f")
        self.assertEqual(self.phases("f")["sign"], ("done", "other"))
        self.ok("fork", "r", "--at", "i3:1", "--edit", "step1.text=edited", "--id", "e", code=4)
        self.assertEqual(self.phases("e")["a"], ("done", "edited"))
        self.refused("fork", "r", "--at", "i1:1", code=2, says="i1 has taken 0")
        for run in ("r", "f", "e"):
            self.ok("verify", run)
            self.assertIn("same", self.ok("replay", run).stdout)

    # --- M25 to M30: subagents -------------------------------------------------------------------

    def lead(self, call="agent__crew", agents="  crew: { charter: crew.yaml }\n",
             crew=says("Done."), more="", of_crew="", calls=1):
        listed = ", ".join(f"{{ tool: {call}, input: {{ input: go {n} }} }}"
                           for n in range(calls))
        self.write("lead.script.yaml", f"replies:\n  - call: [{listed}]\n" + says("End."))
        self.write("crew.script.yaml", f"replies:\n{crew}")
        self.write("crew.yaml", "name: crew\nmodel: scripted/crew.script.yaml\n"
                   f"instructions: Act.\n{of_crew}")
        self.write("lead.yaml", "name: lead\nmodel: scripted/lead.script.yaml\n"
                   f"instructions: Lead.\n{more}agents:\n{agents}")
        return "lead.yaml"

    def results(self, run="r"):
        return [one["content"] for one in self.events(run) if one["type"] == "tool_finished"]

    def test_m25_a_child_that_is_not_done_says_how_it_ended(self):
        bad = "  - error: { category: validation_error, message: broken }\n"
        self.ok("run", self.lead(crew=bad), "x", "--id", "r")
        result = json.loads(self.results()[0])
        self.assertEqual((result["status"], result["stop_reason"]), ("failed", "validation_error"))

    def test_m26_the_id_follows_from_the_call_and_ls_hides_children(self):
        self.ok("run", self.lead(calls=2), "x", "--id", "r")
        children = self.tree()["children"]
        self.assertEqual(len({one["run"] for one in children}), 2)
        self.assertEqual([one["run"] for one in json_lines(self.ok("ls", "--json").stdout)], ["r"])
        listed = json_lines(self.ok("ls", "--tree", "--json").stdout)
        self.assertEqual(sorted(one["call"] for one in listed if one["parent"] == "r"),
                         ["c1", "c2"])

    def test_m27_more_than_the_parent_is_a_fault_with_its_place(self):
        for of_crew, says_this in (
                ("tools: { use: [bash] }\n", "bash"),
                ("sandbox: { network: full }\n", "network"),
                ("sandbox: { write: [/tmp] }\n", "write")):
            charter = self.lead(of_crew=of_crew, more="sandbox: { network: none, write: [] }\n")
            self.faults(charter, says_this, "lead.yaml:")

    def test_m28_the_parents_totals_include_the_childs(self):
        usage = "    usage: { input: 1000, output: 10 }\n"
        self.ok("run", self.lead(crew=f"  - text: Done.\n{usage}", calls=2), "x", "--id", "r")
        own = [self.summary(one["run"])["usage"] for one in self.tree()["children"]]
        whole = self.summary("r")["usage"]
        self.assertGreater(whole["total_tokens"], sum(one["total_tokens"] for one in own))
        self.assertEqual(whole["steps"], 2)

    def test_m29_agents_that_call_themselves_are_a_fault_where_it_can_be_seen(self):
        for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
            self.write(f"{name}.script.yaml", "replies:\n" + says("x"))
            self.write(f"{name}.yaml", f"name: {name}\nmodel: scripted/{name}.script.yaml\n"
                       f"instructions: Go.\nagents:\n  {other}: {{ charter: {other}.yaml }}\n")
        self.faults("a.yaml", "it would call itself: a calls b calls c calls a")
        self.ok("run", "a.yaml", "x", code=2)

    def test_m29_depth_is_bounded_and_the_line_is_in_the_first_record(self):
        call = "  - call: [{{ tool: agent__{}, input: {{ input: go }} }}]\n  - text: end {}\n"
        for level in range(4):
            self.write(f"l{level}.script.yaml",
                       "replies:\n" + call.format(f"l{level + 1}", level) if level < 3 else
                       "replies:\n" + says("the deepest"))
            agents = f"agents:\n  l{level + 1}: {{ charter: l{level + 1}.yaml }}\n" \
                if level < 3 else ""
            more = "subagents: { depth: 2 }\n" if level == 0 else ""
            self.write(f"l{level}.yaml", f"name: l{level}\nmodel: scripted/l{level}.script.yaml\n"
                       f"instructions: Go.\n{more}{agents}")
        self.ok("run", "l0.yaml", "x", "--id", "r")
        listed = json_lines(self.ok("ls", "--tree", "--json").stdout)
        self.assertEqual(len(listed), 3)
        deepest = next(one for one in listed
                       if one["parent"] not in (None, "r"))["run"]
        lineage = self.events(deepest)[0]["lineage"]
        self.assertEqual([one["agent"] for one in lineage], ["l1", "l2"])
        denied = [one for event in self.events(deepest) for one in event["decisions"]
                  if one["type"] == "call_denied"]
        self.assertEqual(denied[0]["rule"], "subagents.depth")

    def test_m30_a_detached_child_goes_on_when_its_parent_ends(self):
        slow = "  - { text: Done., delay: 1500ms }\n"
        for way, status in (("cancel", "cancelled"), ("detach", "done")):
            run = f"r-{way}"
            charter = self.lead(
                crew=slow, agents=f"  crew: {{ charter: crew.yaml, on_parent_end: {way} }}\n",
                more="limits: { time: 500ms }\n")
            self.ok("run", charter, "x", "--id", run, code=5)
            child = self.tree(run)["children"][0]["run"]
            self.assertEqual((self.status(run), self.status(child)), ("stopped", status))


if __name__ == "__main__":
    main()
