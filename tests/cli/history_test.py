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


class Fork(History):
    def test_the_prefix_is_not_called_again_and_keys_are_fresh(self):
        self.ok("run", self.notes(), "--id", "p")
        before = self.keys()
        self.assertEqual(len(before), 3)
        chain = self.chain("p")
        result = self.ok("fork", "p", "--at", "2", "--id", "f")
        self.assertIn("forked from p after step 2", result.stderr)
        self.assertTrue(result.stdout.endswith("\nAll noted.\n"))
        keys = self.keys()
        self.assertEqual(len(keys), 4)
        self.assertEqual(len(set(keys)), 4)
        self.assertEqual(self.chain("p"), chain, "the parent was touched")
        for run in ("p", "f"):
            self.ok("verify", run)
            self.assertTrue(json.loads(self.ok("replay", run, "--json").stdout)["same"])
        self.assertIn("confirms it", self.ok("replay", "f").stdout)
        self.ok("diff", "p", "f")
        self.assertEqual(self.summary("f")["forked_from"]["run"], "p")
        self.assertIn("forked from", self.ok("show", "f").stdout)

    def test_the_executor_is_not_asked_for_the_prefix(self):
        self.ok("run", self.notes(), "--id", "p")
        script = self.directory / "notes.script.yaml"
        text = script.read_text()
        for step in (1, 2):
            text = text.replace(f"Step {step}.", "Asked again!")
        script.write_text(text)
        self.ok("fork", "p", "--at", "2", "--id", "f")
        self.ok("diff", "p", "f")
        self.assertNotIn("Asked again!", self.ok("logs", "f", "--json").stdout)

    def test_edits(self):
        self.ok("run", self.notes(), "--id", "p")
        self.write("result.txt", "x" * 9000)
        self.write("edits.json", json.dumps({"step1.text": "Said otherwise.", "c1": "edited"}))
        self.ok("fork", "p", "--at", "2", "--id", "f", "--edit", "input=Hello",
                "--edit", "c2=@result.txt", "--edit", "edits.json")
        events = self.events("f")
        self.assertEqual(events[0]["input"], "Hello")
        self.assertEqual(sorted(events[0]["forked_from"]["edited"]),
                         ["c1", "c2", "input", "step1.text"])
        results = [e for e in events if e["type"] == "tool_finished"]
        self.assertEqual([e["origin"] for e in results], ["person", "person", "executor"])
        found = json.loads(self.ok("diff", "p", "f", "--json", code=1).stdout)["differences"]
        self.assertEqual((found[0]["step"], found[0]["path"]), (0, "$.input"))
        self.ok("verify", "f")
        self.ok("replay", "f")
        said = self.refused("fork", "p", "--at", "1", "--id", "g", "--edit", "c2=x", code=2,
                            says="there is no 'c2' to edit").stderr
        self.assertIn("input, step1.text, c1", said)
        self.refused("show", "g", code=1, says="there is no run g")

    def test_edits_pass_the_secret_filter_and_the_input_processors(self):
        key = "canary-of-the-host-0123456789"
        self.environment = lambda: {**History.environment(self), "HOST_API_KEY": key}
        charter = self.notes()
        text = (self.directory / charter).read_text()
        self.write(charter, text + "processors: { input: [{ pii: { action: block } }] }\n")
        self.ok("run", charter, "--id", "p")
        self.ok("fork", "p", "--at", "2", "--id", "f", "--edit", f"input=use {key}",
                "--edit", f"c1={key}")
        kept = self.ok("export", "f", "--no-redact").stdout
        self.assertNotIn(key, kept)
        self.assertIn("HOST_API_KEY", kept)
        self.refused("fork", "p", "--at", "2", "--id", "g", "--edit", "input=mail a@b.example",
                     code=2, says="Input blocked by pii")
        self.refused("show", "g", code=1, says="there is no run g")

    def test_another_model(self):
        self.ok("run", self.notes(), "--id", "p")
        self.write("other.yaml", "replies:\n  - text: a\n  - text: b\n  - text: Somebody else.\n")
        result = self.ok("fork", "p", "--at", "2", "--id", "f", "--model", "scripted/other.yaml")
        self.assertTrue(result.stdout.endswith("\nSomebody else.\n"))
        self.assertEqual(self.summary("f")["model"], "scripted/other.yaml")
        for model in ("scripted/absent.yaml", "nobody/knows"):
            self.refused("fork", "p", "--at", "2", "--model", model, code=2, says=model[-8:])

    def test_a_fork_of_a_run_that_is_driven_and_from_the_input_alone(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "p")
        self.wait_for_keys(1)
        self.refused("fork", "p", "--at", "1", code=1, says="calls that have not ended")
        self.open_gate()
        self.ok("fork", "p", "--at", "0", "--id", "f")
        self.end(process, 0)
        self.assertEqual(len(set(self.keys())), 2)

    def test_a_fork_is_killed_and_resumed(self):
        self.gated()
        self.open_gate()
        self.ok("run", "gated.yaml", "--id", "p")
        (self.directory / "gate").unlink()
        process = self.start("fork", "p", "--at", "0", "--id", "f")
        self.wait_for_keys(2)
        process.kill()
        process.communicate()
        self.ok("resume", "f", code=4)
        self.ok("resolve", "f", "c1", "--happened", "ok")
        self.ok("resume", "f")
        self.ok("replay", "f")

    def test_detached(self):
        self.ok("run", self.notes(), "--id", "p")
        self.assertEqual(self.ok("fork", "p", "--at", "1", "--id", "f", "-d").stdout, "f\n")
        self.wait_for(lambda: self.status("f") == "done")
        self.refused("fork", "nobody", "--at", "1", "-d", code=1, says="there is no run nobody")

    def test_bad_usage(self):
        self.ok("run", self.notes(), "--id", "p")
        self.refused("fork", "p", code=2, says="--at STEP")
        self.refused("fork", "p", "--at", "x", code=2, says="--at")
        self.refused("fork", "p", "--at", "9", code=2, says="has 4 steps")
        self.refused("fork", "p", "--at", "1", "--id", "p", code=1, says="already")
        self.write("edits.json", "[]")
        self.refused("fork", "p", "--at", "1", "--edit", "edits.json", code=2, says="JSON object")


if __name__ == "__main__":
    main()
