#!/usr/bin/env python3
"""Machines that mean harm: circles, a thousand nodes, templates in templates, states of ten
megabytes, maps that do not fit. Each is refused with its place, or bounded in words."""

import json
import os
import pty
import time

from support import Stage, json_lines, main


class HostileMachine(Stage):
    def script(self, name, *texts):
        self.write(f"{name}.script.yaml",
                   "replies:\n" + "".join(f"  - text: {json.dumps(text)}\n" for text in texts))
        return f"scripted/{name}.script.yaml"

    def faults(self, path, *says):
        begun = time.monotonic()
        for command in ("validate", "run"):
            told = self.pawl(command, path)
            said = told.stdout + told.stderr
            self.assertEqual(told.returncode, 2, said[:600])
            for one in says:
                self.assertIn(one, said[:4000])
            self.assertLess(len(said), 100_000)
        self.assertLess(time.monotonic() - begun, 10)
        self.assertFalse(self.data.exists())

    def test_circles_of_includes(self):
        self.write("a.yaml", "include: [b.yaml]\nname: a\ninstructions: x\n")
        self.write("b.yaml", "include: [c.yaml]\n")
        self.write("c.yaml", "include: [a.yaml]\n")
        self.faults("a.yaml", "a.yaml", "include")
        self.write("self.yaml", "include: [self.yaml]\nname: a\ninstructions: x\n")
        self.faults("self.yaml", "include")

    def test_circles_of_agents(self):
        model = self.script("m", "x")
        for name, other in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")):
            self.write(f"{name}.yaml", f"name: {name}\nmodel: {model}\ninstructions: Go.\n"
                       f"agents:\n  {other}: {{ charter: {other}.yaml }}\n")
        self.faults("a.yaml", "it would call itself: a calls b calls c calls d calls a")
        # The same by phases of flows.
        for name, other in (("a", "b"), ("b", "a")):
            self.write(f"{name}.yaml", f"name: {name}\nmodel: {model}\n"
                       f"flow: {{ phases: [{{ name: p, agent: {other} }}] }}\n"
                       f"agents:\n  {other}: {{ charter: {other}.yaml }}\n")
        self.faults("a.yaml", "it would call itself: a calls b calls a")

    def test_an_agent_that_changes_its_charter_as_it_goes_is_bounded_by_depth(self):
        """Made-up agents have other charters than those above: only the depth bounds them."""
        call = ("{ tool: run_subagent, input: { prompt: \"deeper {{n}}\","
                " model: scripted/m.script.yaml } }")
        self.write("m.script.yaml", f"replies:\n  - call: [{call}]\n  - text: end\n")
        self.write("m.yaml", "name: m\nmodel: scripted/m.script.yaml\ninstructions: Go.\n"
                   "subagents: { adhoc: true, depth: 3 }\n")
        self.ok("run", "m.yaml", "x", "--id", "r")
        self.assertLessEqual(len(json_lines(self.ok("ls", "--tree", "--json").stdout)), 4)

    def test_a_thousand_nodes_and_one_more_than_there_may_be(self):
        model = self.script("m", "x")
        for count, good in ((1000, True), (1025, False)):
            nodes = "".join(f"  n{i}: {{ instructions: x, next: {{ go: n{(i + 1) % count} }} }}\n"
                            for i in range(count))
            self.write("big.yaml", f"name: big\nmodel: {model}\nstart: n0\nnodes:\n{nodes}")
            if not good:
                self.faults("big.yaml", "1024")
                continue
            begun = time.monotonic()
            self.ok("validate", "big.yaml", "--graph")
            self.ok("run", "big.yaml", "x", "--id", "r")
            self.assertLess(time.monotonic() - begun, 20)
            self.assertIn("same", self.ok("replay", "r").stdout)
            self.data.rename(self.directory / "old")

    def test_templates_in_templates_are_not_searched_again(self):
        one = self.script("one", "{{phases.a.output}} {{input}} {{item}}")
        two = self.script("two", "end")
        self.write("t.yaml", "name: t\nflow:\n  phases:\n    - { name: a, node: a }\n"
                   "    - { name: b, node: b, after: [a], prompt: \"<{{phases.a.output}}>\" }\n"
                   f"nodes:\n  a: {{ model: {one}, instructions: x }}\n"
                   f"  b: {{ model: {two}, instructions: x }}\n")
        self.ok("run", "t.yaml", "{{input}}{{phases.b.output}}", "--id", "r")
        told = [one["input"] for event in self.events("r") for one in event["decisions"]
                if one["type"] == "child_born"]
        self.assertEqual(told, ["{{input}}{{phases.b.output}}",
                                "<{{phases.a.output}} {{input}} {{item}}>"])
        # One in another is found from the inside, once.
        self.write("w.yaml", "name: w\nflow: { phases: [{ name: a, node: a,"
                   " prompt: \"{{phases.{{input}}.output}}\" }] }\n"
                   f"nodes:\n  a: {{ model: {one}, instructions: x }}\n")
        self.ok("run", "w.yaml", "a", "--id", "w")
        told = [one["input"] for event in self.events("w") for one in event["decisions"]
                if one["type"] == "child_born"]
        self.assertEqual(told, ["{{phases.a.output}}"])

    def test_a_state_of_ten_megabytes_changes_nothing(self):
        wait = "  - call: [{ tool: suspend, input: { reason: wait } }]\n  - text: end\n"
        self.write("m.script.yaml", f"replies:\n{wait}")
        self.write("s.yaml", "name: s\nmodel: scripted/m.script.yaml\nnodes:\n  n:\n"
                   "    instructions: x\n    state: { schema: { type: object }, initial: {},"
                   " owner: external }\n    commands: { put: { description: y,"
                   " input: { type: object }, do: [{ patch: { a: { $input: /a } } }] } }\n")
        self.ok("run", "s.yaml", "x", "--id", "r", code=4)
        # An argument of the command line has at most 128 KiB: half of it stands for the rest.
        big = json.dumps({"a": "x" * 120_000})
        for words in (("state", "r", "--set", big), ("command", "r", "put", big)):
            told = self.pawl(*words)
            self.assertEqual(told.returncode, 1, told.stdout[:300] + told.stderr[:300])
            self.assertIn("64 KiB", told.stderr[:2000])
        state = json.loads(self.ok("tree", "r", "--json").stdout)["instances"][0]["state"]
        self.assertEqual(state, {})
        self.write("i.yaml", "name: i\nmodel: scripted/m.script.yaml\nnodes:\n  n:\n"
                   "    instructions: x\n    state: { schema: { type: object }, initial: { a: \""
                   + "x" * 3_000_000 + "\" } }\n")
        self.data.rename(self.directory / "old")
        self.faults("i.yaml", "i.yaml:")

    def test_a_phase_that_hands_on_too_much_fails_in_words_and_is_run_again(self):
        model = self.script("big", json.dumps(["x" * 1000] * 500),
                            '["a"]')
        item = self.script("item", "done")
        self.write("f.yaml", "name: f\nflow:\n  phases:\n    - { name: list, node: list }\n"
                   "    - { name: each, node: each, after: [list],"
                   " map: { over: /phases/list/output } }\n"
                   f"nodes:\n  list: {{ model: {model}, instructions: x,"
                   " output: { schema: { type: array } } }\n"
                   f"  each: {{ model: {item}, instructions: x }}\n")
        told = self.ok("run", "f.yaml", "x", "--id", "r", code=3)
        self.assertIn("phase list", told.stdout + told.stderr)
        self.assertIn("a phase hands on at most 458752", told.stdout + told.stderr)
        self.assertIn("rerun", self.ok("explain", "r").stdout)
        self.ok("verify", "r")  # What it said is in the journal all the same.

    def test_a_campaign_beyond_its_bound_starts_nothing(self):
        model = self.script("crew", "done")
        self.write("crew.yaml", f"name: crew\nmodel: {model}\ninstructions: x\n")
        self.write("c.yaml", f"name: c\nmodel: {model}\nflow: {{ phases: [{{ name: p,"
                   " agent: crew, map: { over: /input } }] }\n"
                   "agents: { crew: { charter: crew.yaml } }\n")
        told = self.ok("run", "c.yaml", json.dumps(list(range(51))), "--id", "r", code=3)
        said = told.stdout + told.stderr
        self.assertIn("phase p: its map has 51 items, a run for each, and 50 of 50 runs", said)
        self.assertIn("raise subagents.descendants", said)
        self.assertEqual(len(json_lines(self.ok("ls", "--tree", "--json").stdout)), 1)
        self.ok("run", "c.yaml", json.dumps(list(range(50))), "--id", "s")

    # --- The live view, in a terminal ------------------------------------------------------------

    def test_the_live_view_has_a_line_for_each_instance_that_acts(self):
        for name, text in (("a", "A"), ("b", "B"), ("c", "C")):
            self.write(f"{name}.script.yaml",
                       f"replies:\n  - {{ text: {text}, delay: 1500ms }}\n")
        self.write("crew.yaml", "name: crew\nmodel: scripted/c.script.yaml\ninstructions: x\n")
        self.write("v.yaml", "name: v\nmodel: scripted/a.script.yaml\nflow:\n  phases:\n"
                   "    - { name: a, node: a }\n    - { name: b, node: b }\n"
                   "    - { name: c, agent: crew }\n"
                   "nodes:\n  a: { instructions: x }\n"
                   "  b: { model: scripted/b.script.yaml, instructions: x }\n"
                   "agents: { crew: { charter: crew.yaml } }\n")
        master, slave = pty.openpty()
        process = self.start("run", "v.yaml", "x", "--id", "r", stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:
                break
            if not more:
                break
            seen += more
        os.close(master)
        process.wait()
        text = seen.decode(errors="replace")
        self.assertEqual(process.returncode, 0, text)
        for line in ("i2 a (worker)", "i3 b (worker)", "i4 agent__crew (worker)",
                     "runs agent__crew", "asks its model"):
            self.assertIn(line, text)
        self.assertNotIn("i1  ·", text)


if __name__ == "__main__":
    main()
