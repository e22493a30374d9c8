#!/usr/bin/env python3
"""What is done with the recorded history of runs: replay, diff, fork."""

import json
import sqlite3

from support import Stage, main

NOTE = ("    note:\n      description: Notes its key.\n      command: [./note.sh]\n"
        "      effect: once\n      input: { type: object }\n")


class History(Stage):
    def notes(self, name="notes", last="All noted."):
        """A charter that notes three keys, one a step, then says so."""
        self.write("note.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\ncat\n", 0o755)
        replies = "".join(f"  - text: Step {n}.\n"
                          f"    call: [{{ tool: note, input: {{ n: {n} }} }}]\n" for n in (1, 2, 3))
        return self.charter(name, f"{replies}  - text: {last}\n", NOTE)

    def chain(self, run):
        return json.loads(self.ok("verify", run, "--json").stdout)["chain"]

    def change(self, statement):
        database = sqlite3.connect(self.data / "pawl.db")
        database.execute(statement)
        database.commit()
        database.close()


class Replay(History):
    def test_a_finished_run_replays_to_the_same_chain_without_any_call(self):
        self.ok("run", self.notes(), "--id", "r")
        keys = self.keys()
        (self.directory / "note.sh").unlink()  # Nobody needs it, nor the script, nor the charter.
        (self.directory / "notes.script.yaml").unlink()
        (self.directory / "notes.yaml").unlink()
        report = json.loads(self.ok("replay", "r", "--json").stdout)
        self.assertTrue(report["same"])
        self.assertEqual(report["chain"], self.chain("r"))
        self.assertEqual(report["records"], len(self.events("r")))
        self.assertIn(report["chain"], self.ok("replay", "r").stdout)
        self.assertEqual(self.keys(), keys)

    def test_killed_waiting_and_resumed_runs_replay(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        self.ok("replay", "r")  # while it is driven
        process.kill()
        process.communicate()
        self.ok("replay", "r")
        self.ok("resume", "r", code=4)
        self.ok("replay", "r")
        self.ok("resolve", "r", "c1", "--happened", "ok")
        self.ok("resume", "r")
        self.ok("replay", "r")
        self.assertEqual(len(self.keys()), 1)

    def test_damage_is_named_and_is_exit_code_1(self):
        self.ok("run", self.notes(), "--id", "r")
        self.change("UPDATE journal SET payload = zeroblob(length(payload)) WHERE seq = 3")
        result = self.ok("replay", "r", code=1)
        self.assertIn("DAMAGED after 3 records", result.stdout)
        self.assertIn("record 3", result.stdout)
        report = json.loads(self.ok("replay", "r", "--json", code=1).stdout)
        self.assertFalse(report["same"])
        self.refused("replay", "nobody", code=1, says="there is no run nobody")


class Diff(History):
    def test_runs_of_one_charter_are_the_same_though_one_was_killed(self):
        self.gated(effect="idempotent")
        self.open_gate()
        self.ok("run", "gated.yaml", "--id", "a")
        (self.directory / "gate").unlink()
        process = self.start("run", "gated.yaml", "--id", "b")
        self.wait_for_keys(2)
        process.kill()
        process.communicate()
        said = self.ok("diff", "a", "b", code=1).stdout
        self.assertIn("b is a prefix of a", said)
        self.open_gate()
        self.ok("resume", "b")
        self.assertIn("the same\n", self.ok("diff", "a", "b").stdout)
        self.ok("diff", "a", "b", "--all", code=1)

    def test_one_byte_of_the_input_is_located(self):
        self.notes()
        prompt = "x" * 9000
        self.ok("run", "notes.yaml", prompt, "--id", "a")
        self.ok("run", "notes.yaml", prompt[:8000] + "y" + prompt[8001:], "--id", "b")
        found = json.loads(self.ok("diff", "a", "b", "--json", code=1).stdout)
        self.assertFalse(found["same"])
        self.assertTrue(found["same_output"])
        self.assertEqual(len(found["differences"]), 1)
        first = found["differences"][0]
        self.assertEqual((first["step"], first["path"], first["byte"]), (0, "$.input", 8000))
        self.assertIn("step 0, run_started", self.ok("diff", "a", "b", code=1).stdout)

    def test_a_script_that_says_something_else(self):
        self.ok("run", self.notes(), "--id", "a")
        self.ok("run", self.notes(last="None noted."), "--id", "b")
        said = self.ok("diff", "a", "b", code=1).stdout
        self.assertIn("step 4, model_replied", said)
        self.assertIn("$.blocks[0].text, byte 0", said)
        self.assertIn("the outputs differ", said)
        self.refused("diff", "a", "nobody", code=1, says="there is no run nobody")
        self.refused("diff", "a", code=2, says="B is missing")


if __name__ == "__main__":
    main()
