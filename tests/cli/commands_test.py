#!/usr/bin/env python3
"""Commands and settings that need the whole program."""

import hashlib
import json
import os
import shlex
import subprocess

from support import PATIENCE_S, PAWL, SOURCE, Stage, main


class Commands(Stage):
    def test_version_names_the_schema(self):
        said = self.ok("--version").stdout
        self.assertRegex(said, r"^pawl \d+\.\d+\.\d+\n")
        self.assertRegex(said, r"schema \d+")

    def test_the_man_page_is_fresh_and_well_formed(self):
        page = self.ok("man").stdout
        self.assertEqual(page, (SOURCE / "docs/man/pawl.1").read_text(encoding="utf-8"))

    def test_completions_are_syntactically_right(self):
        script = self.ok("completion", "bash").stdout
        checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True,
                                 check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        probe = script
        for words in ("pawl res", "pawl run --st", "pawl ls --status wa", "pawl --log-level ''"):
            last = len(shlex.split(words)) - 1
            probe += f'\nCOMP_WORDS=({words}); COMP_CWORD={last}; _pawl; echo "${{COMPREPLY[@]}}"'
        said = subprocess.run(["bash"], input=probe, text=True, capture_output=True, check=False)
        self.assertEqual(said.stdout.splitlines(),
                         ["resume resolve restore", "--steps", "waiting", "error warn info debug"],
                         said.stderr)

    def test_variables_reach_the_instructions(self):
        self.charter("c", "  - text: Done.\n", more="vars: { who: nobody }\n")
        text = (self.directory / "c.yaml").read_text().replace("Go.", "Greet {{who}}.")
        self.write("c.yaml", text)
        self.ok("run", "c.yaml", "--var", "who=me", "--id", "r")
        variables = self.events("r")[0]["variables"]
        self.assertIn({"key": "who", "value": "me"}, variables)
        self.refused("run", "c.yaml", "--var", "nonsense", code=2, says="NAME=VALUE")

    def test_settings_come_from_flag_environment_and_file(self):
        self.charter("c", "  - text: Done.\n")
        self.ok("run", "c.yaml")  # PAWL_DATA
        self.assertTrue((self.data / "pawl.db").exists())
        other = self.directory / "other"
        self.ok("run", "c.yaml", "--data", other, "--id", "x")
        self.assertTrue((other / "pawl.db").exists())
        self.assertEqual(os.stat(other).st_mode & 0o777, 0o700)
        self.write("bad.yaml", "daat: x\n")
        said = self.refused("--config", "bad.yaml", "ls", code=2, says="bad.yaml:1:").stderr
        self.assertIn("daat", said)

    def test_a_setting_given_as_nothing_is_refused(self):
        self.refused("ls", "--data", "", code=2, says="--data is empty")

    def test_paths_in_the_configuration_do_not_depend_on_where_one_stands(self):
        self.charter("c", "  - text: Done.\n")
        (self.directory / "conf").mkdir()
        for said, place in (("near", "conf/near"), ("~/home", "home")):
            self.write("conf/config.yaml", f"data: {said}\ncolor: always\n")
            environment = {key: value for key, value in self.environment().items()
                           if key != "PAWL_DATA"}
            done = subprocess.run([PAWL, "--config", "conf/config.yaml", "run", "c.yaml"],
                                  cwd=self.directory, env=environment, timeout=PATIENCE_S,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.directory / place / "pawl.db").exists())
            self.assertIn("\x1b[1mstep 1\x1b[0m\n", done.stdout)

    def test_init_makes_the_directory_it_is_given(self):
        self.ok("init", "new/agent")
        self.ok("run", "new/agent/agent.yaml", "Ann")
        self.refused("init", "new/agent", code=1, says="is there already")

    def test_the_first_verdict_on_a_doubt_counts_and_the_second_is_told(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        self.assertIn("(gated) is interrupted.", self.ok("explain", "r").stdout)
        self.ok("resume", "r", code=4)
        self.ok("resolve", "r", "c1", "--happened", "it did")
        self.refused("resolve", "r", "c1", "--did-not-happen", code=1,
                     says="c1 of run r has been resolved by")
        self.assertIn("In its inbox", self.ok("explain", "r").stdout)
        self.ok("resume", "r")
        self.assertEqual(len(self.keys()), 1)

    def test_files_of_the_input_are_for_the_tools_and_named_to_the_model(self):
        (self.directory / "sub").mkdir()
        (self.directory / "work").mkdir()
        self.write("list.csv", "bytes for tools alone")
        self.write("sub/list.csv", "a second one")
        with open(self.directory / "film.mkv", "wb") as film:
            film.truncate(51 << 20)
        kept = self.data / "inputs/r"
        self.charter("c", f"  - call: {{ tool: view, input: {{ path: {kept}/list-2.csv }} }}\n"
                     f"  - call: {{ tool: view, input: {{ path: {self.data}/inputs/q/x }} }}\n"
                     "  - text: Seen.\n",
                     more="sandbox: { level: local, network: full, directory: work,"
                     " write: [work] }\n"
                     "tools: { use: [view] }\n")
        self.write("x", "another run's")
        self.ok("run", "c.yaml", "--id", "q", "--file", "x")
        self.ok("run", "c.yaml", "Look.", "--id", "r", "--file", "list.csv", "--file",
                "sub/list.csv", "--file", "film.mkv")
        events = self.events("r")
        digest = hashlib.sha256(b"a second one").hexdigest()
        self.assertTrue(events[0]["input"].startswith("Look.\n\n[ATTACHED FILES]\n"))
        self.assertIn(f"- {kept}/list-2.csv (application/octet-stream, 12 bytes, sha256 {digest})",
                      events[0]["input"])
        self.assertIn("- not available: film.mkv: larger than 52428800 bytes", events[0]["input"])
        self.assertNotIn("bytes for tools alone", json.dumps(events))
        results = [event for event in events if event["type"] == "tool_finished"]
        self.assertEqual([one["end"] for one in results], ["succeeded", "failed"])
        self.assertIn("a second one", results[0]["content"])
        self.refused("run", "c.yaml", "--file", "none", code=1, says="none: cannot be read")
        for parent, fork in (("r", "f"), ("f", "g")):  # A fork reads what its parent may read.
            self.ok("fork", parent, "--at", "0", "--id", fork)
            ends = [event["end"] for event in self.events(fork) if event["type"] == "tool_finished"]
            self.assertEqual(ends, ["succeeded", "failed"])
        self.ok("rm", "f")
        self.assertTrue((kept / "list.csv").exists())
        self.ok("rm", "r")
        self.assertFalse(kept.exists())
        self.assertTrue((self.data / "inputs/q/x").exists())

    def test_suggested_commands_work_as_they_stand(self):
        self.gated()
        data = self.directory / "its data"
        process = self.start("run", "gated.yaml", "--id", "r", "--data", data)
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        said = self.ok("resume", "r", "--data", data, code=4).stderr
        self.assertIn(f"pawl --data '{data}' resolve r c1", said)

    def test_the_log(self):
        self.charter("c", "  - text: Done.\n")
        log = self.directory / "log"
        result = self.ok("run", "c.yaml", "--log-level", "debug", "--log-file", log)
        self.assertEqual(result.stderr, "")
        self.assertIn("info: data directory", log.read_text())
        self.assertIn("info: ", self.ok("ls", "--log-level", "info").stderr)

    def test_a_run_whose_script_is_gone_says_so(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        script = self.directory / "gated.script.yaml"
        text = script.read_text()
        script.unlink()
        for _ in range(6):  # However often it is tried, the run is not to blame.
            self.refused("resume", "r", code=2, says="gated.script.yaml")
        script.write_text(text)
        self.ok("resume", "r", code=4)

    def test_undriven_runs_can_be_paused_and_cancelled(self):
        self.gated(effect="idempotent")
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        self.open_gate()
        self.assertIn("pawl resume r", self.ok("pause", "r").stdout)
        self.assertEqual(self.summary("r")["reason"], "paused")
        self.assertIn("stored", self.ok("message", "r", "are you there?").stdout)
        self.assertIn("cancelled", self.ok("cancel", "r").stdout)
        self.assertEqual(self.status("r"), "cancelled")
        self.assertEqual(len(set(self.keys())), 1)

    def test_a_killed_run_is_interrupted_and_nobody_waits_for_it(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        self.assertTrue(self.summary("r")["driven"])
        self.assertIn(" running ", self.ok("ls").stdout)
        attached = self.start("attach", "r")
        followed = self.start("logs", "r", "-f")
        process.kill()
        process.communicate()
        says = "nobody drives this run; `pawl resume r` carries it on"
        self.assertIn(says, self.end(attached, 1)[1])
        self.assertIn(says, self.end(followed, 0)[1])
        self.assertIn(" interrupted ", self.ok("ls", "--status", "interrupted").stdout)
        self.assertEqual((self.status("r"), self.summary("r")["driven"]), ("running", False))
        self.assertIn("Nobody drives it", self.ok("explain", "r").stdout)

    def test_a_message_to_a_parked_run_is_read_when_it_is_resumed(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        self.ok("pause", "r")
        self.open_gate()
        self.end(process, 4)
        self.ok("message", "r", "-", stdin="from a pipe")
        self.assertTrue(self.ok("resume", "r").stdout.endswith("\n"))
        kinds = [event["type"] for event in self.events("r")]
        self.assertIn("message_received", kinds)


if __name__ == "__main__":
    main()
