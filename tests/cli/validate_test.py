#!/usr/bin/env python3
"""Charters with faults: all of them are listed, with line and column."""

import json
import os
import re

from support import Stage, main


class Validate(Stage):
    def test_every_fault_is_listed_with_its_place(self):
        self.write("bad.yaml", "nmae: x\nmodels: { main: scripted/x.yaml }\n"
                   "limits: { steps: many, tmie: 3s }\ninstructions: [1]\n")
        result = self.pawl("validate", "bad.yaml")
        self.assertEqual(result.returncode, 2)
        places = re.findall(r"^bad\.yaml:(\d+):(\d+): ", result.stdout, re.M)
        lines = {int(line) for line, _ in places}
        self.assertLessEqual({1, 3, 4}, lines, result.stdout)
        self.assertGreaterEqual(len([1 for line, _ in places if line == "3"]), 2, result.stdout)
        self.assertIn("nmae", result.stdout)
        said = json.loads(self.pawl("validate", "bad.yaml", "--json").stdout)
        self.assertFalse(said["ok"])
        self.assertEqual("\n".join(said["faults"]) + "\n", result.stdout)

    def test_run_refuses_for_the_same_reasons_and_makes_nothing(self):
        self.write("bad.yaml", "nmae: x\n")
        validated = self.pawl("validate", "bad.yaml")
        ran = self.pawl("run", "bad.yaml")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertEqual(ran.stderr, validated.stdout)
        self.assertFalse(self.data.exists())

    def test_a_sound_charter_has_no_faults(self):
        self.assertIn("no faults", self.ok("validate", self.pay()).stdout)
        self.assertFalse(self.data.exists())

    def test_faults_of_the_script_are_found_too(self):
        self.charter("c", "  - txet: x\n")
        result = self.pawl("validate", "c.yaml")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stdout, r"c\.script\.yaml:2:\d+: ")

    def test_a_script_outside_of_the_directory_or_a_pipe_is_refused_and_not_shown(self):
        os.mkfifo(self.directory / "pipe")
        self.write("key.txt", "hunter2: hunter2\n")
        for script, says in (("pipe", "not a regular file"),
                             ("../../../../../etc/passwd", "leads out of the directory"),
                             ("/etc/passwd", "leads out of the directory"),
                             ("key.txt", "not the script of a model")):
            self.write("c.yaml", f"name: c\nmodel: scripted/{script}\ninstructions: Go.\n")
            for command in ("validate", "run"):
                result = self.pawl(command, "c.yaml")
                said = result.stdout + result.stderr
                self.assertEqual(result.returncode, 2, said)
                self.assertIn(says, said)
                self.assertNotIn("root:", said)
                self.assertNotIn("hunter2", said)

    def test_a_command_that_is_not_there_is_a_note_and_a_known_outcome(self):
        self.charter("c", "  - call: [{ tool: gone, input: {} }]\n  - text: So be it.\n",
                     "    gone: { command: [./gone.sh] }\n")
        note = "c.yaml:6:22: the command of the tool gone: ./gone.sh is not there"
        self.assertIn(note, self.ok("validate", "c.yaml").stdout)
        self.assertIn(note, json.loads(self.ok("validate", "c.yaml", "--json").stdout)["notes"][0])
        ran = self.ok("run", "c.yaml")
        self.assertIn("So be it.", ran.stdout)
        self.assertIn(note, ran.stderr)

    def test_init_makes_a_charter_that_runs(self):
        (self.directory / "new").mkdir()
        self.ok("init", "new")
        self.ok("validate", "new/agent.yaml")
        self.assertIn("Hello!", self.ok("run", "new/agent.yaml", "World").stdout)
        self.refused("init", "new", code=1, says="there already")

    def test_the_description_is_shown(self):
        self.charter("c", "  - text: Done.\n", more="description: Says that it is done.\n")
        self.assertIn("c: Says that it is done.\n", self.ok("validate", "c.yaml").stdout)
        self.ok("run", "c.yaml", "--id", "r")
        self.assertIn("Says that it is done.\n", self.ok("show", "r").stdout)
        self.assertEqual(self.summary("r")["description"], "Says that it is done.")


if __name__ == "__main__":
    main()
