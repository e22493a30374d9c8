#!/usr/bin/env python3
"""Commands and settings that need the whole program."""

import os
import subprocess

from support import SOURCE, Stage, main


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
        probe = script + ('\nCOMP_WORDS=(pawl res); COMP_CWORD=1; _pawl; echo "${COMPREPLY[@]}"'
                          '\nCOMP_WORDS=(pawl run --st); COMP_CWORD=2; _pawl; echo "$COMPREPLY"')
        said = subprocess.run(["bash"], input=probe, text=True, capture_output=True, check=False)
        self.assertEqual(said.stdout, "resume resolve\n--steps\n", said.stderr)

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
