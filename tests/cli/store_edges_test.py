#!/usr/bin/env python3
"""The edges of a store: messages at a run's end, stopped processes, signals, parts of lists,
directories that cannot be written, backups."""

import os
import pathlib
import random
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import PAWL, Stage, json_lines, main

NAMED_WITHIN_S = 5

# Takes the store's write lock and stops itself inside of the transaction.
HOLDER = """
import os, signal, sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("BEGIN IMMEDIATE")
print("held", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
store.execute("ROLLBACK")
"""


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


class LastMessages(Stage):
    def test_what_is_accepted_at_the_end_of_a_run_is_in_its_journal(self):
        """The nightly run sets PAWL_LAST_RUNS."""
        replies = "".join(f"  - text: Reply {number}.\n" for number in range(9))
        self.charter("quick", replies)
        chance = random.Random(7)
        told = {"taken": 0, "too late": 0}
        for number in range(int(os.environ.get("PAWL_LAST_RUNS", "12"))):
            run = f"r{number}"
            driver = self.start("run", "quick.yaml", "--id", run)
            self.wait_for(lambda: self.pawl("show", run).returncode == 0, "the run")
            time.sleep(chance.uniform(0, 0.02))
            text = f"are you there, {run}?"
            sent = self.pawl("message", run, text)
            self.end(driver, 0)
            journal = self.ok("logs", run, "--json").stdout
            if sent.returncode == 0:
                self.assertIn(text, journal, sent.stdout)
                told["taken"] += 1
            else:
                self.assertNotIn(text, journal)
                self.assertRegex(sent.stderr, "is over: done|has ended: done|too late")
                told["too late"] += 1
        self.assertGreater(sum(told.values()), 0)


class Stopped(Stage):
    def setUp(self):
        super().setUp()
        self.gated()
        self.open_gate()
        self.ok("run", "gated.yaml", "--id", "over")
        (self.directory / "gate").unlink()
        self.driver = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(2)

    def hold(self):
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(self.data / "pawl.db")],
                                  stdout=subprocess.PIPE, text=True)
        self.started.append(holder)
        self.assertEqual(holder.stdout.readline(), "held\n")
        self.wait_for(lambda: state_of(holder.pid) == "T", "the holder to be stopped")
        return holder

    def let_go(self, holder):
        holder.send_signal(signal.SIGCONT)
        holder.wait()

    def test_reads_go_on_while_a_writer_is_stopped_inside_a_commit(self):
        holder = self.hold()
        begun = time.monotonic()
        for words in (["ls"], ["show", "r"], ["logs", "r"], ["explain", "r"], ["approvals"],
                      ["verify", "over"], ["export", "over"]):
            self.ok(*words)
        self.assertLess(time.monotonic() - begun, 15)  # none of them waits for the lock
        self.let_go(holder)

    def test_who_must_write_names_the_stopped_holder(self):
        holder = self.hold()
        remedy = f"kill -CONT {holder.pid}"
        sender = self.start("message", "r", "hello")
        begun = time.monotonic()
        ready, _, _ = select.select([sender.stderr], [], [], NAMED_WITHIN_S)
        self.assertTrue(ready, "nothing was said in time")
        self.assertIn(remedy, sender.stderr.readline())
        self.assertLess(time.monotonic() - begun, NAMED_WITHIN_S)
        self.let_go(holder)
        out, _ = sender.communicate(timeout=30)
        self.assertEqual(sender.returncode, 0, out)
        self.open_gate()
        self.end(self.driver, 0)

    def test_a_resume_names_the_stopped_holder(self):
        self.driver.kill()
        self.driver.communicate()
        holder = self.hold()
        begun = time.monotonic()
        self.refused("resume", "r", code=1, says=f"kill -CONT {holder.pid}")
        self.assertLess(time.monotonic() - begun, NAMED_WITHIN_S + 1)
        self.let_go(holder)

    def test_ctrl_z_stops_the_driver_and_nobody_else(self):
        for _ in range(5):
            self.driver.send_signal(signal.SIGTSTP)
            self.wait_for(lambda: state_of(self.driver.pid) == "T", "the driver to stop")
            begun = time.monotonic()
            self.ok("run", "gated.yaml", "--id", f"x{_}", "-d")
            self.ok("cancel", f"x{_}")
            self.assertLess(time.monotonic() - begun, 15)
            self.driver.send_signal(signal.SIGCONT)
            self.wait_for(lambda: state_of(self.driver.pid) != "T", "the driver to go on")
        self.open_gate()
        self.end(self.driver, 0)
        self.assertEqual(self.status("r"), "done")


def read_or_nothing(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


class Killed(Stage):
    def tool(self, command, effect):
        self.write("tool.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n" + command + "\n", 0o755)
        self.charter("killed", "  - call: [{ tool: pay, input: {} }]\n  - text: Done.\n",
                     "    pay:\n      description: Pays.\n      command: [./tool.sh]\n"
                     f"      effect: {effect}\n      input: {{ type: object }}\n")
        return "killed.yaml"

    def test_a_once_tool_that_a_signal_killed_is_in_doubt(self):
        for number, name in ((9, "KILL"), (11, "SEGV")):
            run = f"r{number}"
            self.ok("run", self.tool(f"kill -{number} $$", "once"), "--id", run, code=4)
            self.assertEqual(self.summary(run)["reason"], "in_doubt")
            self.assertIn(f"signal {number} (SIG{name})", self.ok("logs", run, "--json").stdout)
        self.assertEqual(len(self.keys()), 2)
        self.ok("resolve", "r9", "c1", "--happened", "paid")
        self.ok("resume", "r9")
        self.assertEqual(len(self.keys()), 2)

    def test_a_once_tool_that_is_killed_inside_the_sandbox_is_in_doubt(self):
        (self.directory / "work").mkdir()
        self.directory.chmod(0o755)
        seconds = f"9{os.getpid()}"
        self.write("work/pay.sh", f"#!/bin/sh\necho x >>keys\nexec sleep {seconds}\n", 0o755)
        self.charter("boxed", "  - call: [{ tool: pay, input: {} }]\n  - text: Done.\n",
                     "    pay:\n      description: Pays.\n      command: [./pay.sh]\n"
                     "      effect: once\n      input: { type: object }\n",
                     "sandbox: { level: namespace, write: [work], directory: work }\n")
        driver = self.start("run", "boxed.yaml", "--id", "r")
        words = f"sleep\0{seconds}\0".encode()

        def tool():
            return [each for each in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                    if each.exists() and read_or_nothing(each) == words]
        self.wait_for(lambda: tool() or driver.poll() is not None, "the tool")
        if driver.poll() is not None:
            self.skipTest(driver.communicate()[1])  # this machine has no user namespaces
        os.kill(int(tool()[0].parent.name), signal.SIGKILL)  # as the kernel does without memory
        self.end(driver, 4)
        self.assertEqual(self.summary("r")["reason"], "in_doubt")
        self.ok("resolve", "r", "c1", "--happened", "paid")
        self.ok("resume", "r")
        self.assertEqual((self.directory / "work/keys").read_text(), "x\n")

    def test_an_exit_code_is_known_and_a_pure_tool_is_tried_again(self):
        self.ok("run", self.tool("exit 137", "once"), "--id", "code")
        self.ok("run", self.tool("sh -c 'kill -9 $$'; exit $?", "once"), "--id", "inner")
        self.assertEqual(len(self.keys()), 2)
        first = self.directory / "first"
        self.ok("run", self.tool(f"[ -e {first} ] || {{ touch {first}; kill -9 $$; }}", "pure"),
                "--id", "again")
        self.assertEqual(len(self.keys()), 4)


class Lists(Stage):
    def test_ls_says_when_it_shows_a_part(self):
        self.gated()
        self.open_gate()
        for number in range(3):
            self.ok("run", "gated.yaml", "--id", f"r{number}")
        part = self.ok("ls", "--limit", "2", "--json")
        self.assertEqual([run["run"] for run in json_lines(part.stdout)], ["r2", "r1"])
        self.assertIn("only the newest 2 runs are shown", part.stderr)
        for words in (["ls"], ["ls", "--all"], ["ls", "--limit", "3"]):
            whole = self.ok(*words)
            self.assertEqual(len(whole.stdout.splitlines()), 3)
            self.assertEqual(whole.stderr, "")
        self.refused("ls", "--limit", "0", code=2, says="--limit")
        self.refused("ls", "--limit", "2", "--all", code=2, says="--all")


class ReadOnly(Stage):
    def setUp(self):
        super().setUp()
        self.gated()
        self.open_gate()
        self.ok("run", "gated.yaml", "--id", "r")
        self.temporary = self.directory / "temporary"
        self.temporary.mkdir()

    def environment(self):
        return {**super().environment(), "TMPDIR": str(self.directory / "temporary")}

    def look(self, *words):
        """In a mount namespace in which the data directory is read-only."""
        script = ('mount --bind "$D" "$D" && mount -o remount,bind,ro "$D" || exit 99; exec "$@"')
        return subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", PAWL,
             *words], cwd=self.directory, env={**self.environment(), "D": str(self.data)},
            capture_output=True, text=True, timeout=30, check=False)

    def test_a_read_only_directory_can_be_inspected_and_is_left_as_it_is(self):
        if shutil.which("unshare") is None or self.look("ls").returncode == 99:
            self.skipTest("no mount namespace can be had here")
        before = sorted((path.name, path.stat().st_mtime_ns) for path in self.data.iterdir())
        for words in (["ls"], ["show", "r"], ["logs", "r"], ["explain", "r"], ["verify", "r"],
                      ["verify", "--all"], ["export", "r"], ["approvals"], ["replay", "r"]):
            seen = self.look(*words)
            self.assertEqual(seen.returncode, 0, f"{words}: {seen.stderr}")
            self.assertIn("cannot be written", seen.stderr)
        self.assertIn("r ", self.look("ls").stdout)
        for words in (["message", "r", "x"], ["run", "gated.yaml"], ["cancel", "r"],
                      ["rm", "r"], ["gc", "--keep", "1"]):
            refused = self.look(*words)
            self.assertEqual(refused.returncode, 1, f"{words}: {refused.stdout}")
            self.assertIn("cannot be written", refused.stderr)
        after = sorted((path.name, path.stat().st_mtime_ns) for path in self.data.iterdir())
        self.assertEqual(before, after)
        self.assertEqual(list(self.temporary.iterdir()), [])


class Backup(Stage):
    def test_a_backup_has_what_lies_beside_the_database_and_doctor_knows_it(self):
        self.gated()
        self.open_gate()
        self.write("notes.txt", "notes")
        self.ok("run", "gated.yaml", "--id", "r", "--file", "notes.txt")
        self.write("data/remembered.jsonl", "", 0o600)
        (self.data / "artifacts").mkdir(exist_ok=True)
        self.write("data/artifacts/kept", "output", 0o600)
        self.ok("backup", "copy")
        copy = self.directory / "copy"
        self.assertTrue((copy / "remembered.jsonl").exists())
        self.assertEqual((copy / "artifacts/kept").read_text(), "output")
        names = [path.read_text() for path in copy.glob("inputs/r/**/*") if path.is_file()]
        self.assertIn("notes", names)
        self.assertFalse((copy / "logs").exists())
        self.ok("--data", "copy", "verify", "--all")
        self.write("data/budget.db", "", 0o600)
        said = self.pawl("doctor").stdout
        for name in ("budget.db", "remembered.jsonl"):
            self.assertNotIn(f"{name} is none of the store's files", said)


class Beside(Stage):
    """Files beside the database: what a run came with, and kept output of its tools."""

    def flipped(self, path):
        """Each of some flips of one bit, undone afterwards."""
        sound = path.read_bytes()
        for at in {0, len(sound) // 2, len(sound) - 1}:
            path.chmod(0o600)
            path.write_bytes(sound[:at] + bytes([sound[at] ^ 16]) + sound[at + 1:])
            yield at
        path.write_bytes(sound)

    def test_a_flipped_bit_is_noticed_before_anybody_acts_on_it(self):
        (self.directory / "work").mkdir()
        self.write("list.csv", "what the run came with")
        replies = ("  - call: { tool: bash, input: { command: seq 90000 } }\n"
                   "  - call: { tool: view, input: { path: %s } }\n  - text: Seen.\n"
                   % (self.data / "inputs/r/list.csv"))
        self.charter("c", replies, more="sandbox: { level: local, network: full, directory: work,"
                     " write: [work] }\ntools: { use: [bash, view] }\n")
        self.ok("run", "c.yaml", "--id", "r", "--file", "list.csv")
        self.ok("verify", "--all")
        kept = list((self.data / "artifacts/r").iterdir())
        self.assertEqual(len(kept), 1)
        for path in [*kept, self.data / "inputs/r/list.csv", self.data / "inputs/r/.digests"]:
            for at in self.flipped(path):
                said = self.pawl("verify", "r")
                self.assertEqual(said.returncode, 6, f"byte {at} of {path}\n{said.stdout}")
                self.assertIn(f"{path.parent.parent.name}/r/{path.name}", said.stdout)
        self.ok("verify", "--all")
        for _ in self.flipped(self.data / "inputs/r/list.csv"):
            self.pawl("fork", "r", "--at", "0", "--id", "f")
            results = [event["content"] for event in self.events("f")
                       if event["type"] == "tool_finished"]
            self.assertIn("list.csv is not what the run came with any more", "".join(results))
            self.assertNotIn("what the run came with\\n", "".join(results))
            self.ok("rm", "f", "--force")


if __name__ == "__main__":
    main()
