#!/usr/bin/env python3
"""What the host reads or runs has the digest it had when a person started it."""

import json
import os
import pty
import select
import signal
import subprocess
import unittest

from support import PATIENCE_S, PAWL, Stage, main

TOOL = "tools: { use: [bash], define: { pay: { command: [./pay.sh], sandbox: false } } }\n"
LOCAL = "sandbox: { level: local, network: full }\n"


class Trust(Stage):
    def environment(self):
        """The home of a user, where charters are not."""
        home = self.directory / "home"
        home.mkdir(exist_ok=True)
        return {**super().environment(), "HOME": str(home)}

    def agent(self, command, name="a", more="", last="  - text: Done.\n"):
        """An agent at a level where nothing holds a command back, and that runs one."""
        self.write(f"{name}.script.yaml", "replies:\n"
                   f"  - call: [{{ tool: bash, input: {{ command: {json.dumps(command)} }} }}]\n"
                   + last)
        self.write(f"{name}.yaml", f"name: {name}\nmodel: scripted/{name}.script.yaml\n{LOCAL}"
                   f"tools: {{ use: [bash] }}\n{more}instructions: Go.\n")
        return f"{name}.yaml"

    def not_trusted(self, *words, file):
        result = self.refused(*words, code=2, says=f"pawl trust {self.directory / file}")
        self.assertIn(f"{self.directory / file}: ", result.stderr)
        return result

    def trust(self, file):
        return self.ok("trust", file).stdout

    def at_terminal(self, *words, answer):
        """The exit code and what was said; every question gets the answer."""
        master, slave = pty.openpty()
        process = subprocess.Popen([PAWL, *words], cwd=self.directory, stdin=slave, stdout=slave,
                                   stderr=slave, env=self.environment())
        self.started.append(process)
        os.close(slave)
        said, asked = "", 0
        while select.select([master], [], [], PATIENCE_S)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:  # Linux's way of saying that nobody writes any more
                break
            said += piece.decode(errors="replace")
            if "[y]es, [n]o: " in said[asked:]:
                asked = len(said)
                os.write(master, answer.encode() + b"\n")
        os.close(master)
        return process.wait(PATIENCE_S), said

    def test_an_operator_s_own_changes_are_never_asked_about(self):
        charter = self.agent("echo hello")
        self.agent("echo hello", name="b")
        for text in ("one", "two", "three"):
            self.write("a.yaml", (self.directory / "a.yaml").read_text() + f"# {text}\n")
            self.write("a.script.yaml",
                       (self.directory / "a.script.yaml").read_text() + f"# {text}\n")
            self.ok("validate", charter)
            self.ok("run", "b.yaml")  # a session, while a.yaml is not as it was last run
            self.ok("run", charter, "--id", text)
            self.write(f"new-{text}.yaml", (self.directory / "a.yaml").read_text())
            self.ok("run", f"new-{text}.yaml")

    def test_an_agent_that_rewrites_its_charter_is_not_run_again_unattended(self):
        charter = self.agent("echo '# planted' >>a.yaml")
        self.ok("run", charter)
        for command in ("run", "validate"):
            said = self.pawl(command, charter)
            self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
            self.assertIn("a.yaml: changed while a session", said.stdout + said.stderr)
        shown = self.trust(charter)
        self.assertIn("+# planted\n", shown)
        self.assertIn("trusted: ", shown)
        self.ok("validate", charter)
        listed = [json.loads(line)
                  for line in self.ok("trust", "--list", "--json").stdout.splitlines()]
        self.assertIn(str(self.directory / charter), [one["file"] for one in listed])

    def test_a_different_data_directory_hides_nothing(self):
        charter = self.agent("echo '# planted' >>a.yaml")
        self.ok("run", charter)
        self.refused("run", charter, "--data", str(self.directory / "other"), code=2,
                     says="pawl trust")

    def test_a_person_at_a_terminal_is_shown_the_change_and_asked(self):
        charter = self.agent("echo '# planted \u200b' >>a.yaml; echo '# too' >>a.script.yaml")
        self.ok("run", charter)
        code, said = self.at_terminal("run", charter, answer="n")
        self.assertEqual(code, 2, said)
        self.assertEqual(said.count("[y]es, [n]o: "), 1, said)
        self.assertIn("+# planted ", said)
        self.assertNotIn("\u200b", said)
        code, said = self.at_terminal("validate", charter, answer="y")
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count("[y]es, [n]o: "), 2, said)
        self.ok("validate", charter)

    def test_a_person_at_a_terminal_takes_up_a_run_with_what_changed(self):
        charter = self.agent("echo '# planted' >>a.script.yaml; touch ready; sleep 60")
        process = self.start("run", charter, "--id", "r")
        self.wait_for((self.directory / "ready").exists, "the agent")
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
        self.not_trusted("resume", "r", file="a.script.yaml")
        code, said = self.at_terminal("resume", "r", answer="y")
        self.assertIn("+# planted", said)
        self.assertNotEqual(code, 2, said)

    def test_in_a_sandbox_the_files_of_the_host_cannot_be_written(self):
        self.write("pay.sh", "#!/bin/sh\necho paid\n", 0o755)
        self.write("policy.yaml", "deny: [http_fetch]\n")
        names = ("a.yaml", "a.script.yaml", "pay.sh", "policy.yaml")
        charter = self.agent("".join(f"echo '# planted' >>{name}; rm {name}; mv {name} x; "
                                     for name in names) + "echo kept >made")
        text = (self.directory / charter).read_text()
        text = text.replace("tools: { use: [bash] }\n", TOOL).replace(LOCAL, "sandbox: {}\n")
        self.write(charter, text)
        said = self.pawl("run", charter, "--policy", "policy.yaml")
        if "user namespaces" in said.stderr + said.stdout:
            raise unittest.SkipTest("this machine has no user namespaces: " + said.stderr)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.assertEqual((self.directory / "made").read_text(), "kept\n")
        for name in names:
            self.assertNotIn("planted\n", (self.directory / name).read_text()
                             .replace("'# planted'", ""))
        self.ok("run", charter, "--policy", "policy.yaml")

    def test_a_scripted_model_a_policy_and_a_host_s_program_are_looked_at_too(self):
        for planted in ("a.script.yaml", "policy.yaml", "pay.sh"):
            with self.subTest(planted):
                self.write("pay.sh", "#!/bin/sh\necho paid\n", 0o755)
                self.write("policy.yaml", "deny: [http_fetch]\n")
                charter = self.agent(f"echo '# planted' >>{planted}")
                text = (self.directory / charter).read_text()
                self.write(charter, text.replace("tools: { use: [bash] }\n", TOOL))
                self.ok("run", charter, "--policy", "policy.yaml")
                self.not_trusted("run", charter, "--policy", "policy.yaml", file=planted)
                self.trust(planted)

    def test_a_new_charter_that_an_agent_made_is_not_run(self):
        charter = self.agent("cp a.yaml made.yaml; mkdir sub; cp a.yaml sub/made.yaml")
        self.write("mine.yaml", (self.directory / charter).read_text())
        self.ok("run", charter)
        self.not_trusted("run", "made.yaml", file="made.yaml")
        self.not_trusted("run", "sub/made.yaml", file="sub/made.yaml")
        self.ok("run", "mine.yaml")
        self.trust("made.yaml")
        self.ok("validate", "made.yaml")

    def test_a_link_to_what_another_agent_could_write_is_followed_to_the_file(self):
        (self.directory / "far").mkdir()
        self.write("pay.sh", "#!/bin/sh\ntouch paid\n", 0o755).rename(self.directory / "far/pay.sh")
        (self.directory / "pay.sh").symlink_to("far/pay.sh")
        mine = self.agent("true", name="mine")
        (self.directory / mine).rename(self.directory / "far/mine.yaml")
        (self.directory / mine).symlink_to("far/mine.yaml")
        text = (self.directory / mine).read_text()
        (self.directory / mine).write_text(text.replace("tools: { use: [bash] }\n", TOOL))
        self.ok("run", mine)
        self.agent("for f in mine.yaml pay.sh; do echo '# planted' >>$f; done", name="other")
        for name in ("other.yaml", "other.script.yaml"):
            text = (self.directory / name).read_text().replace(LOCAL, "sandbox: {}\n")
            (self.directory / "far" / name).write_text(text)
        said = self.pawl("run", "far/other.yaml")
        if "user namespaces" in said.stderr + said.stdout:
            raise unittest.SkipTest("this machine has no user namespaces: " + said.stderr)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.not_trusted("run", mine, file=mine)
        self.trust(mine)
        self.not_trusted("run", mine, file="pay.sh")
        self.assertFalse((self.directory / "paid").exists())

    def test_after_a_kill_the_change_is_found(self):
        charter = self.agent("echo '# planted' >>a.yaml; touch ready; sleep 60")
        process = self.start("run", charter, "--id", "r")
        self.wait_for((self.directory / "ready").exists, "the agent")
        self.not_trusted("run", charter, file="a.yaml")  # while it lives
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
        self.not_trusted("run", charter, file="a.yaml")
        self.not_trusted("run", charter, file="a.yaml")

    def test_a_run_is_not_taken_up_with_what_changed(self):
        check = self.write("check.sh", "#!/bin/sh\necho allow\n", 0o755)
        more = "guardrails: [{ id: checked, tool: bash, verdict: ask, script: ./check.sh }]\n"
        charter = self.agent("touch ready; sleep 60", more=more)
        process = self.start("run", charter, "--id", "r")
        self.wait_for((self.directory / "ready").exists, "the agent")
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
        check.write_text("#!/bin/sh\ntouch planted\necho allow\n")
        self.not_trusted("resume", "r", file="check.sh")
        self.assertFalse((self.directory / "planted").exists())
        check.write_text("#!/bin/sh\necho allow\n")
        self.assertNotEqual(self.pawl("resume", "r").returncode, 2)

    def test_a_script_of_a_rule_runs_as_it_was_when_the_run_started(self):
        self.write("check.sh", "#!/bin/sh\necho \"$PAWL_SCRIPT_DIR\" >>judged\necho allow\n", 0o755)
        planted = "#!/bin/sh\\ntouch planted\\necho allow\\n"
        more = "guardrails: [{ id: checked, tool: bash, verdict: ask, script: ./check.sh }]\n"
        charter = self.agent(f"printf '{planted}' >check.sh", more=more,
                             last="  - call: [{ tool: bash, input: { command: echo } }]\n"
                                  "  - text: Done.\n")
        self.ok("run", charter)
        self.assertEqual((self.directory / "judged").read_text().split(),
                         [str(self.directory)] * 2)
        self.assertFalse((self.directory / "planted").exists())
        self.not_trusted("run", charter, file="check.sh")

    def test_a_host_s_command_that_changed_is_not_started(self):
        self.write("pay.sh", "#!/bin/sh\ntouch paid\n", 0o755)
        charter = self.agent("echo 'touch planted' >>pay.sh",
                             last="  - call: [{ tool: pay, input: {} }]\n  - text: Done.\n")
        text = (self.directory / charter).read_text()
        self.write(charter, text.replace("tools: { use: [bash] }\n", TOOL))
        self.ok("run", charter, "--id", "r")
        self.assertFalse((self.directory / "planted").exists())
        self.assertFalse((self.directory / "paid").exists())
        self.assertIn("pawl trust", json.dumps(self.events("r")))


if __name__ == "__main__":
    main()
