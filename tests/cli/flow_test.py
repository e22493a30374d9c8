#!/usr/bin/env python3
"""Flows from outside: rules M16 to M24 with the scripted model, and the examples."""

import json
import re
import shutil
import signal
import time

from support import SOURCE, Stage, main


class Flow(Stage):
    def flow(self, phases, scripts, more="", gate=""):
        """A charter of `phases`, a node for each script; a script is a list of replies."""
        nodes = ""
        for name, replies in scripts.items():
            self.write(f"{name}.script.yaml", f"replies:\n{replies}")
            nodes += (f"  {name}:\n    model: scripted/{name}.script.yaml\n"
                      f"    instructions: Go.\n")
        self.write("f.yaml", f"name: f\n{more}flow:\n{gate}  phases:\n{phases}nodes:\n{nodes}")
        return "f.yaml"

    def decisions(self, run, kind):
        return [one for event in self.events(run) for one in event["decisions"]
                if one["type"] == kind]

    def tree(self, run):
        return json.loads(self.ok("tree", run, "--json").stdout)

    def phases(self, run):
        return {one["name"]: (one["status"], one["output"]) for one in self.tree(run)["phases"]}

    def output(self, run):
        return self.summary(run)["output"]

    def example(self, name):
        shutil.copytree(SOURCE / "examples/machine" / name, self.directory / name)
        shutil.copy(SOURCE / "examples/machine" / f"{name}.yaml", self.directory)
        return f"{name}.yaml"

    # --- The examples ----------------------------------------------------------------------------

    def test_the_release_waits_for_a_person_and_an_event(self):
        self.ok("run", self.example("release"), "2.0", "--id", "r", code=4)
        self.assertEqual(self.phases("r")["sign"][0], "waiting")
        explained = self.ok("explain", "r").stdout
        self.assertIn("Is this good to go?", explained)
        self.assertIn("pawl approve r c1", explained)
        self.assertIn("Everything is faster.", self.ok("approvals", "r").stdout)
        self.ok("event", "r", "merged", '{"commit":"abc"}')  # early: it is kept
        self.ok("approve", "r")
        self.ok("resume", "r")
        self.assertEqual(self.output("r"), "The release is out.")
        told = self.decisions("r", "child_born")
        self.assertEqual(told[0]["input"], "Plan the release of Pawl 2.0.")
        self.assertEqual(told[-1]["input"], "Say that abc is out. Everything is faster.")
        self.assertIn("same", self.ok("replay", "r").stdout)

    def test_the_release_awaits_with_a_timeout_and_says_so(self):
        self.ok("run", self.example("release"), "2.0", "--id", "r", code=4)
        self.ok("approve", "r")
        self.ok("resume", "r", code=4)
        explained = self.ok("explain", "r").stdout
        self.assertIn("pawl event r merged [JSON]", explained)
        self.assertIn("awaits merged until", explained)
        self.refused("event", "r", "mergd", code=1, says="they await merged")
        self.refused("event", "r", "merged", "{", code=1, says="event_received")
        self.ok("event", "r", "merged", '{"commit":"abc"}')
        self.ok("resume", "r")
        self.assertEqual(self.status("r"), "done")

    def test_the_files_are_checked_each_in_its_directory(self):
        self.ok("run", self.example("files"), "--id", "r")
        self.assertEqual(self.output("r"), "Three files are fine.")
        self.assertEqual(self.phases("r")["check"], ("done", ["It is fine."] * 3))
        told = [one["input"] for one in self.decisions("r", "child_born")]
        self.assertIn('Check this file: {"dir":"src","name":"a.cc"}', told)
        self.assertIn("same", self.ok("replay", "r").stdout)

    # --- People ----------------------------------------------------------------------------------

    def test_a_checkpoint_is_denied_or_answered(self):
        charter = self.flow(
            "    - { name: a, node: a }\n"
            "    - { name: sign, after: [a], checkpoint: \"Good?\" }\n"
            "    - { name: b, node: b, after: [sign] }\n",
            {"a": "  - text: one\n", "b": "  - text: two\n"})
        self.ok("run", charter, "--id", "r", code=4)
        self.ok("deny", "r", "--reason", "too early")
        self.ok("resume", "r", code=3)
        self.assertIn("too early", self.ok("explain", "r").stdout)
        self.assertEqual(self.phases("r")["sign"][0], "failed")

        self.ok("run", charter, "--id", "s", code=4)
        self.ok("answer", "s", "make it shorter")
        self.ok("resume", "s")
        self.assertEqual(self.decisions("s", "child_born")[-1]["input"], "make it shorter")

    def test_an_await_that_times_out_is_taken_by_resume_due(self):
        charter = self.flow(
            "    - { name: w, await: { event: e, timeout: 1s }, optional: true, fallback: late }\n"
            "    - { name: a, node: a, after: [w] }\n", {"a": "  - text: one\n"})
        self.ok("run", charter, "--id", "r", code=4)
        time.sleep(1.2)
        self.ok("resume", "--due")
        self.assertEqual(self.decisions("r", "child_born")[-1]["input"], "late")
        self.assertEqual(self.status("r"), "done")

    def test_phases_are_steered_and_refusals_say_why(self):
        charter = self.flow(
            "    - { name: a, node: a }\n"
            "    - { name: w, await: { event: e } }\n"
            "    - { name: b, node: b, after: [w] }\n"
            "    - { name: c, node: b, after: [b] }\n",
            {"a": "  - text: one\n", "b": "  - text: two\n" * 9})
        self.ok("run", charter, "--id", "r", code=4)
        self.refused("phase", "r", "a", "skip", code=1, says="only one that has not begun")
        self.refused("phase", "r", "x", "skip", code=1, says="there is no phase x")
        self.refused("phase", "r", "a", "burn", code=2, says="rerun")
        self.refused("phase", "r", "w", "rerun", code=1, says="only one that has ended")
        self.ok("phase", "r", "c", "skip")
        self.ok("phase", "r", "w", "abandon")
        self.ok("resume", "r")
        self.assertEqual({name: status for name, (status, _) in self.phases("r").items()},
                         {"a": "done", "w": "abandoned", "b": "done", "c": "skipped"})
        self.refused("phase", "r", "w", "abandon", code=1, says="over")
        self.ok("phase", "r", "b", "rerun")
        self.assertEqual(self.phases("r")["c"][0], "done")
        self.assertEqual(self.status("r"), "done")
        self.assertIn("same", self.ok("replay", "r").stdout)

    # --- Items and steps -------------------------------------------------------------------------

    def test_work_items_hold_the_end_in_a_charter_of_one_agent(self):
        self.write("g.script.yaml",
                   "replies:\n  - call: [{ tool: work_item_add, input: { title: tidy up } }]\n"
                   "  - text: done\n"
                   "  - call: [{ tool: work_item_done, input: { id: w1 } }]\n  - text: really\n")
        self.write("g.yaml", "name: g\nmodel: scripted/g.script.yaml\ngate: {}\n"
                   "instructions: Go.\n")
        self.ok("run", "g.yaml", "--id", "r")
        self.assertEqual(self.output("r"), "really")
        self.assertEqual(self.tree("r")["work_items"],
                         [{"id": "w1", "title": "tidy up", "status": "done", "reason": None}])

    def test_a_run_that_leaves_items_open_fails_and_names_them(self):
        charter = self.flow("    - { name: a, node: a }\n",
                            {"a": "  - call: [{ tool: work_item_add, input: { title: tidy } }]\n"
                             + "".join(f"  - text: no {n}\n" for n in range(9))},
                            gate="  gate: { blocks: 2 }\n")
        self.ok("run", charter, "--id", "r", code=3)
        explained = self.ok("explain", "r").stdout
        self.assertIn("w1 (tidy)", explained)
        self.assertIn("gate.blocks", explained)

    def test_discovered_steps_run_behind_their_phase(self):
        self.write("a.script.yaml", "replies:\n  - call: [{ tool: discover_step, input: "
                   "{ node: b, input: look there, reason: odd } }]\n  - text: one\n")
        self.write("b.script.yaml", "replies: [{ text: seen }]\n")
        self.write("f.yaml", "name: f\nflow:\n  phases:\n    - { name: a, node: a }\n"
                   "    - { name: z, node: b, after: [a] }\nnodes:\n"
                   "  a: { model: scripted/a.script.yaml, instructions: Go.,"
                   " discover: { nodes: [b] } }\n"
                   "  b: { model: scripted/b.script.yaml, instructions: Go. }\n")
        self.ok("run", "f.yaml", "--id", "r")
        self.assertEqual(self.phases("r"), {"a": ("done", "one"), "a/1": ("done", "seen"),
                                            "z": ("done", "seen")})
        self.assertEqual([one["input"] for one in self.decisions("r", "child_born")][1:],
                         ["look there", "one"])
        text = self.ok("tree", "r").stdout
        self.assertRegex(text, re.compile(r"^i1 \(flow\)", re.M))
        self.assertIn('phase a/1  done  "seen"', text)

    # --- Kills -----------------------------------------------------------------------------------

    def test_a_kill_in_the_middle_of_a_map_loses_no_item_and_doubles_none(self):
        self.write("list.script.yaml", "replies:\n  - text: '[" + ",".join(
            f'{{"d":{n % 3},"n":{n}}}' for n in range(12)) + "]'\n")
        self.write("do.script.yaml", "replies:\n  - text: seen\n    delay: 150ms\n")
        self.write("f.yaml", "name: f\nlimits: { steps: 200 }\nflow:\n  phases:\n"
                   "    - { name: list, node: list }\n"
                   "    - { name: do, node: do, after: [list], prompt: \"{{item}}\","
                   " map: { over: /phases/list/output, max: 3, per_key: /d } }\nnodes:\n"
                   "  list: { model: scripted/list.script.yaml, instructions: Go.,"
                   " output: { schema: { type: array } } }\n"
                   "  do: { model: scripted/do.script.yaml, instructions: Go. }\n")
        process = self.start("run", "f.yaml", "--id", "r")
        for _ in range(3):
            time.sleep(0.4)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if self.pawl("show", "r", "--json").returncode == 0 and self.status("r") == "done":
                break
            process = self.start("resume", "r")
        process.communicate()
        if self.status("r") != "done":
            self.ok("resume", "r")
        self.assertEqual(self.phases("r")["do"], ("done", ["seen"] * 12))
        seats = [one["number"] for one in self.decisions("r", "seat_taken")
                 if one["role"] == "item"]
        self.assertEqual(sorted(seats), list(range(12)))
        self.assertIn("same", self.ok("replay", "r").stdout)

    def test_a_checkpoint_survives_a_kill(self):
        charter = self.flow(
            "    - { name: sign, checkpoint: \"Good?\" }\n"
            "    - { name: a, node: a }\n", {"a": "  - text: one\n    delay: 3s\n"})
        process = self.start("run", charter, "--id", "r")
        self.wait_for(lambda: self.pawl("tree", "r", "--json").returncode == 0
                      and self.phases("r")["sign"][0] == "waiting", "the checkpoint")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.ok("approve", "r", "c1")
        self.ok("resume", "r")
        self.assertEqual(json.loads(self.output("r")), {"sign": "", "a": "one"})


if __name__ == "__main__":
    main()
