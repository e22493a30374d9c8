#!/usr/bin/env python3
"""What is kept: rm, gc, backup, doctor."""

import hashlib
import json
import os
import sqlite3

from support import Stage, json_lines, main


class Keep(Stage):
    def runs(self, *more):
        return [run["run"] for run in json_lines(self.ok("ls", "--json", *more).stdout)]

    def damage(self, run):
        """One byte of its second record."""
        with sqlite3.connect(self.data / "pawl.db") as database:
            row, payload = database.execute(
                "SELECT journal.id, payload FROM journal, runs WHERE runs.id = ? AND run = no"
                " AND seq = 1", (run,)).fetchone()
            flipped = payload[:-1] + bytes([payload[-1] ^ 1])
            database.execute("UPDATE journal SET payload = ? WHERE id = ?", (flipped, row))

    def test_runs_are_removed_with_their_logs(self):
        self.charter("c", "  - text: Done.\n")
        run = self.ok("run", "c.yaml", "--detach").stdout.strip()
        self.wait_for(lambda: self.status(run) == "done", "the end")
        log = self.data / "logs" / f"{run}.log"
        self.wait_for(lambda: "Done." in log.read_text(), "the log")
        self.ok("run", "c.yaml", "--id", "stays")
        said = self.ok("rm", run[:-2]).stdout
        self.assertIn(f"removed {run} (done)", said)
        self.assertIn("bytes returned", said)
        self.assertFalse(log.exists())
        self.assertEqual(self.runs(), ["stays"])
        self.refused("show", run, code=1, says="no run")
        self.refused("rm", "stays", "nobody", code=1, says="no run nobody")
        self.assertEqual(self.runs(), ["stays"])

    def test_what_lives_is_not_removed(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        self.refused("rm", "r", "--force", code=1, says="pawl cancel r")
        self.ok("gc", "--keep", "0", "--force")
        self.assertEqual(self.runs(), ["r"])
        process.kill()
        process.communicate()
        self.refused("rm", "r", code=1, says="is interrupted and could be carried on; --force")
        self.ok("gc", "--keep", "0")
        self.assertEqual(self.runs(), ["r"])
        self.ok("rm", "r", "--force")
        self.assertEqual(self.runs(), [])

    def test_gc_returns_space(self):
        self.write("big.sh", "#!/bin/sh\nhead -c 60000 /dev/zero | tr '\\0' x\n", 0o755)
        self.charter("big", "  - call: [{ tool: big, input: {} }]\n  - text: Done.\n",
                     "    big:\n      description: Prints much.\n      command: [./big.sh]\n"
                     "      effect: pure\n      input: { type: object }\n")
        for number in range(6):
            self.ok("run", "big.yaml", "--id", f"r{number}")
        self.refused("gc", code=2, says="--older-than AGE, --keep N or --max-size SIZE")
        said = self.ok("gc", "--max-size", "150KB", "--dry-run").stdout
        self.assertEqual(len(self.runs()), 6)
        self.assertIn("would remove r0", said)
        before = (self.data / "pawl.db").stat().st_size
        lines = json_lines(self.ok("gc", "--max-size", "150KB", "--json").stdout)
        self.assertEqual([line["run"] for line in lines[:-1]], ["r0", "r1", "r2", "r3"])
        self.assertGreater(lines[-1]["bytes_returned"], 200_000)
        after = (self.data / "pawl.db").stat().st_size
        self.assertGreater(before - after, 200_000)
        self.assertLessEqual(before - after, lines[-1]["bytes_returned"])
        self.assertEqual(self.runs(), ["r5", "r4"])
        self.ok("verify", "--all")
        self.ok("gc", "--older-than", "1h")
        self.assertEqual(self.runs(), ["r5", "r4"])

    def printing(self, name, size):
        """A charter whose tool prints that many bytes."""
        self.write(f"{name}.sh", f"#!/bin/sh\nhead -c {size} /dev/zero | tr '\\0' x\n", 0o755)
        self.charter(name, f"  - call: [{{ tool: {name}, input: {{}} }}]\n  - text: Done.\n",
                     f"    {name}:\n      description: Prints much.\n      command: [./{name}.sh]\n"
                     "      effect: pure\n      input: { type: object }\n")
        self.ok("run", f"{name}.yaml", "--id", name)

    def artifacts(self, run):
        return json_lines(self.ok("artifacts", run, "--json").stdout)

    def test_old_outputs_expire_and_their_run_stays(self):
        self.printing("large", 60_000)
        listed, = self.artifacts("large")
        self.assertEqual((listed["call"], listed["expired"], listed["needed"]), ("c1", None, False))
        read = self.ok("artifacts", "large", listed["sha256"][:12]).stdout
        self.assertEqual(hashlib.sha256(read.encode()).hexdigest(), listed["sha256"])
        kept = self.data / "artifacts" / "large"
        kept.mkdir(parents=True)
        (kept / "old").write_text("cut output")
        os.utime(kept / "old", (1_000, 1_000))
        (kept / "young").write_text("cut output")
        exported = self.directory / "whole.jsonl"
        self.ok("export", "large", "-o", exported)

        said = self.ok("gc", "--artifacts", "1ms", "--dry-run").stdout
        self.assertIn("would let 3 outputs of large expire", said)
        self.assertEqual(self.artifacts("large"), [listed])
        before = (self.data / "pawl.db").stat().st_size
        said = self.ok("gc", "--artifacts", "1h").stdout
        self.assertIn("let 1 output of large expire (10 bytes)", said)
        self.assertEqual([path.name for path in kept.iterdir()], ["young"])
        lines = json_lines(self.ok("gc", "--artifacts", "1ms", "--json").stdout)
        self.assertEqual([lines[0][key] for key in ("run", "artifacts", "expired")],
                         ["large", 2, True])
        self.assertEqual((lines[-1]["runs"], lines[-1]["artifacts"]), (0, 2))
        self.assertGreater(before - (self.data / "pawl.db").stat().st_size, 40_000)

        self.assertIn("expired on ", self.ok("artifacts", "large").stdout)
        self.refused("artifacts", "large", listed["sha256"], code=1, says="expired on ")
        self.assertIn("1 blobs (1 expired)", self.ok("verify", "large").stdout)
        self.assertIn("(1 expired)", self.ok("replay", "large").stdout)
        self.assertIn("expired on ", self.ok("logs", "large").stdout)
        self.refused("fork", "large", "--at", "1", code=1, says="expired on ")
        marked = self.directory / "marked.jsonl"
        self.assertIn("1 blobs had expired", self.ok("export", "large", "-o", marked).stdout)
        self.ok("import", marked, "--id", "copy")
        self.assertIn("(1 expired)", self.ok("verify", "copy").stdout)
        self.ok("import", exported, "--id", "restored")
        self.assertEqual(self.ok("artifacts", "restored", listed["sha256"]).stdout, read)
        self.ok("verify", "--all")

    def test_a_gc_that_is_killed_leaves_outputs_whole_or_gone(self):
        for number in range(4):
            self.printing(f"n{number}", 60_000)
        process = self.start("gc", "--artifacts", "1ms")
        self.assertIn("let 1 output of n3 expire", process.stdout.readline())
        process.kill()
        process.communicate()
        self.assertTrue(self.artifacts("n3")[0]["expired"])  # what it said is durable
        self.ok("verify", "--all")
        for run in self.runs():
            self.ok("replay", run)
        self.ok("gc", "--artifacts", "1ms")
        self.assertTrue(all(self.artifacts(run)[0]["expired"] for run in self.runs()))

    def test_outputs_of_runs_that_may_go_on_stay(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "live")
        self.wait_for_keys(1)
        self.printing("over", 60_000)
        self.refused("gc", "--artifacts", "soon", code=2, says="artifacts")
        both = self.ok("gc", "--keep", "0", "--artifacts", "1ms", "--dry-run").stdout
        self.assertIn("would remove 1 run, 0 outputs would expire", both)
        self.assertIn("1 output expired", self.ok("gc", "--artifacts", "1ms", "--force").stdout)
        process.kill()
        process.communicate()
        cut = self.data / "artifacts" / "live" / "cut.txt"  # it may still ask for it
        cut.parent.mkdir(parents=True, exist_ok=True)
        cut.write_text("the rest")
        os.utime(cut, (0, 0))
        self.assertIn("0 outputs expired", self.ok("gc", "--artifacts", "1ms", "--force").stdout)
        self.assertTrue(cut.exists())
        # One that cannot be read is complained about, and the next one is looked at all the same.
        self.printing("bad", 60_000)
        self.printing("good", 60_000)
        self.damage("bad")
        result = self.pawl("gc", "--artifacts", "1ms")
        self.assertEqual(result.returncode, 6)
        self.assertIn("let 1 output of good expire", result.stdout)
        self.assertIn("1 output expired", result.stdout)

    def test_a_backup_is_a_data_directory_that_nothing_is_driven_in_before_it_is_accepted(self):
        self.pay()
        self.gated()
        live = self.start("run", "gated.yaml", "--id", "live")
        self.wait_for_keys(1)
        writers = [self.start("run", "pay.yaml", "--id", f"w{number}") for number in range(8)]
        copy = self.directory / "copy"
        self.ok("backup", copy)
        for writer in writers:
            self.end(writer, 0)
        self.assertEqual(os.stat(copy).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(copy / "pawl.db").st_mode & 0o777, 0o600)
        self.assertEqual([path.name for path in copy.iterdir()], ["pawl.db"])
        self.refused("backup", copy, code=1, says="there already")
        said = json_lines(self.ok("--data", copy, "verify", "--all", "--json").stdout)
        self.assertIn("live", [line["run"] for line in said])
        self.assertTrue(all(line["ok"] for line in said))
        # The copy's run is nobody's yet, and the effect that was under way is in doubt there.
        self.refused("--data", copy, "resume", "live", code=1, says="pawl restore BACKUP")
        self.assertIn("warning", self.ok("--data", copy, "doctor").stdout)
        self.ok("--data", copy, "doctor", "--accept")
        for _ in range(2):
            self.ok("--data", copy, "resume", "live", code=4)
        self.open_gate()
        self.end(live, 0)
        self.assertEqual(self.status("live"), "done")
        self.assertEqual(len(self.keys()), 1)

    def test_doctor(self):
        self.assertIn("is not there yet", self.ok("doctor").stdout)
        self.assertFalse(self.data.exists())
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        said = self.ok("doctor").stdout
        self.assertIn("runs: 1, 1 running\n", said)
        self.assertIn("a process has the store open", said)
        process.kill()
        process.communicate()
        before = {path.name: path.read_bytes() for path in self.data.iterdir()
                  if path.suffix != ".db-shm" and path.is_file()}
        said = self.ok("doctor").stdout
        self.assertIn("warning  run: r is interrupted: nobody drives it; pawl resume r", said)
        for name, content in before.items():
            if name != "pawl.db-shm":
                self.assertEqual((self.data / name).read_bytes(), content, name)
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml", "--id", "bad")
        self.damage("r")
        self.pawl("resume", "r")
        result = self.pawl("doctor", "--json")
        self.assertEqual(result.returncode, 1)
        findings = json_lines(result.stdout)
        problems = [one for one in findings if one["grade"] == "problem"]
        self.assertEqual([one["text"] for one in problems], ["r is quarantined"])
        database = next(one for one in findings if one["about"] == "database")
        self.assertGreater(database["figures"]["bytes"], 8192)
        self.ok("rm", "r")
        self.assertEqual(json.loads(self.ok("show", "bad", "--json").stdout)["status"], "done")
        self.ok("doctor")


if __name__ == "__main__":
    main()
