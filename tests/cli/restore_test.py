#!/usr/bin/env python3
"""Backups put back, the right way and by hand, and stores that have lost their end."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess

from support import PAWL, Stage, json_lines, main

PAGE, LOG_HEADER, FRAME_HEADER = 8192, 32, 24
FRAME = FRAME_HEADER + PAGE


class Restore(Stage):
    def runs(self):
        return {run["run"]: run["status"] for run in json_lines(self.ok("ls", "--json").stdout)}

    def interrupt(self, run="r"):
        """A driver that is killed while a call of a `once` tool is under way."""
        self.gated()
        process = self.start("run", "gated.yaml", "--id", run)
        self.wait_for_keys(1)
        process.kill()
        process.communicate()

    def commits(self, log):
        """The ends of the commits in a log."""
        salts = log[16:24]
        ends = []
        for at in range(LOG_HEADER, len(log) - FRAME + 1, FRAME):
            if log[at + 8:at + 16] != salts:
                break
            if log[at + 4:at + 8] != bytes(4):
                ends.append(at + FRAME)
        return ends

    def cut(self, left):
        """The log ends with a commit before the last one."""
        path = self.data / "pawl.db-wal"
        log = path.read_bytes()
        path.write_bytes(log[:self.commits(log)[left]])
        (self.data / "pawl.db-shm").unlink()

    def test_a_backup_is_restored_and_the_old_directory_kept(self):
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml", "--id", "first")
        copy = self.directory / "copy"
        self.ok("backup", copy)
        self.ok("run", "c.yaml", "--id", "second")
        said = json.loads(self.ok("restore", copy, "--json").stdout)
        self.assertEqual(list(self.runs()), ["first"])
        self.ok("verify", "--all")
        kept = json_lines(self.ok("--data", said["aside"], "ls", "--json").stdout)
        self.assertEqual(sorted(run["run"] for run in kept), ["first", "second"])
        self.ok("run", "c.yaml", "--id", "third")
        self.refused("restore", self.directory / "nothing", code=1, says="has no pawl.db")

    def test_a_run_that_is_lost_from_its_table_stops_the_store(self):
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml", "--id", "first")
        self.ok("run", "c.yaml", "--id", "second")
        with contextlib.closing(sqlite3.connect(self.data / "pawl.db")) as database, database:
            database.execute("DELETE FROM runs WHERE id = 'first'")
        says = "table runs has 1 runs and should have 2"
        self.refused("run", "c.yaml", "--id", "first", code=1, says=says)  # not a second time
        self.assertIn(says, self.ok("doctor", code=1).stdout)
        self.assertEqual(list(self.runs()), ["second"])
        self.assertIn(says, self.ok("doctor", "--accept").stdout)
        self.ok("run", "c.yaml", "--id", "third")

    def test_runs_that_are_due_and_cannot_be_read_are_named(self):
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml", "--id", "first")
        with contextlib.closing(sqlite3.connect(self.data / "pawl.db")) as database, database:
            database.execute("UPDATE runs SET status = 'wbiting'")
        self.refused("resume", "--due", code=6, says="run first is left alone")

    def test_a_backup_has_commits_of_sessions_and_says_what_it_leaves_out(self):
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml", "--id", "first")
        for name in ("git/1/private/objects", "taken/first"):
            (self.data / name).mkdir(parents=True)
        (self.data / "git/1/private/objects/one").write_text("an object", encoding="utf-8")
        copy = self.directory / "copy"
        said = json.loads(self.ok("backup", copy, "--json").stdout)
        self.assertEqual(said["left_out"], ["taken"])
        self.assertTrue((copy / "git/1/private/objects/one").exists())
        self.assertIn("left out: ", self.ok("backup", self.directory / "other").stdout)

    def test_another_user_of_the_machine_is_refused_in_words(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root and setpriv")
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml", "--id", "first")
        self.directory.chmod(0o755)
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        for mode in (0o700, 0o755, 0o777):
            self.data.chmod(mode)
            said = subprocess.run([*other, PAWL, "--data", self.data, "ls"], cwd="/", check=False,
                                  capture_output=True, text=True, timeout=60,
                                  env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]})
            self.assertNotEqual(said.returncode, 0, said.stdout)
            self.assertRegex(said.stderr, "Permission denied|belongs to|permission|another user")
        self.data.chmod(0o700)
        self.ok("verify", "--all")

    def test_nothing_is_restored_under_a_driver(self):
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml", "--id", "first")
        copy = self.directory / "copy"
        self.ok("backup", copy)
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        self.refused("restore", copy, code=1, says="open in another process")
        self.open_gate()
        self.end(process, 0)

    def test_a_backup_copied_over_the_database_by_hand_is_refused(self):
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml", "--id", "first")
        copy = self.directory / "copy"
        self.ok("backup", copy)
        self.interrupt()
        shutil.copyfile(copy / "pawl.db", self.data / "pawl.db")
        (self.data / "pawl.db-shm").unlink()
        ended = self.pawl("resume", "r")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("pawl restore", ended.stderr)
        self.assertEqual(len(self.keys()), 1)
        self.ok("restore", copy)
        self.assertEqual(list(self.runs()), ["first"])

    def test_a_backup_in_the_place_of_everything_by_hand_repeats_no_call(self):
        self.gated()
        copy = self.directory / "copy"
        self.charter("c", "  - text: Done.\n")
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        self.ok("backup", copy)
        process.kill()
        process.communicate()
        for path in self.data.glob("pawl.*"):
            if path.name != "pawl.lock":
                path.unlink()
        shutil.copyfile(copy / "pawl.db", self.data / "pawl.db")
        for command in (("resume", "r"), ("run", "c.yaml", "--id", "s")):
            self.refused(*command, code=1, says="pawl restore BACKUP")
        self.assertIn("pawl restore BACKUP", self.ok("resume", "--due").stderr)
        self.ok("ls")
        self.assertEqual(json.loads(self.ok("restore", copy, "--json").stdout)["paused"], ["r"])
        inbox = self.data / "pawl.db"
        with contextlib.closing(sqlite3.connect(inbox)) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM inbox").fetchone(), (1,))
        self.assertEqual(len(self.keys()), 1)

    def test_a_store_that_lost_its_end_is_read_and_driven_only_when_somebody_accepts_it(self):
        self.interrupt()
        self.cut(1)
        read = self.ok("ls", "--json")
        self.assertIn("behind its mark", read.stderr)
        self.refused("resume", "r", code=1, says="pawl doctor --accept")
        self.ok("verify", "--all", code=6)
        self.assertIn("problem  mark: the store is behind its mark",
                      self.ok("doctor", code=1).stdout)
        self.assertEqual(len(self.keys()), 1)
        said = json.loads(self.ok("doctor", "--accept", "--json").stdout)
        self.assertGreater(said["records"], 0)
        self.assertEqual(said["paused"], ["r"])
        # Whoever carries interrupted runs on does not lift the pause: the call was made already,
        # and nothing here knows of it.
        self.ok("resume", "r", code=4)
        self.assertEqual(len(self.keys()), 1)
        self.assertIn("paused", self.ok("show", "r").stdout)
        self.ok("verify", "--all")
        self.assertIn("nothing to accept", self.ok("doctor", "--accept").stdout)


if __name__ == "__main__":
    main()
