#!/usr/bin/env python3
"""What a charter says of its own tools: trust, needs, risk and terminal; and what explain names."""

import json
import re

from approvals_test import ONE, PayStage
from support import main

GRANT = "permissions: { grant: [fs_read] }\n"
RISKY = "approvals: { policy: { threshold: { risk: high } } }\n"


class Declared(PayStage):
    def declaring(self, line, more="", replies=ONE):
        """The charter of the payment, with another line in the definition of its tool."""
        charter = self.paying(replies=replies, more=more)
        text = (self.directory / charter).read_text()
        changed = text.replace("      effect: once\n", f"      effect: once\n      {line}\n")
        self.assertNotEqual(text, changed)
        self.write(charter, changed)
        return charter

    def finished(self, run):
        return [event for event in self.events(run) if event["type"] == "tool_finished"]

    def test_a_tool_that_needs_what_is_not_granted_does_not_run(self):
        self.ok("run", self.declaring("needs: [network]", GRANT), "go", "--id", "r")
        self.assertEqual((self.paid(), self.finished("r")), ([], []))
        told = self.ok("explain", "r").stdout
        self.assertIn("Calls: 0 permitted, 0 put before a person, 1 denied.", told)
        self.assertRegex(told, r"c1 pay \(trust trust\.network\): denied: .*\bnetwork\b")

    def test_each_permission_that_is_missing_denies_also_what_is_allowed_by_name(self):
        for missing in ("network", "fs_write", "env", "subprocess", "pii"):
            charter = self.declaring(f"needs: [fs_read, {missing}]", GRANT)
            text = (self.directory / charter).read_text()
            self.write(charter, text.replace("tools:\n", "tools:\n  allow: [pay]\n"))
            self.ok("run", charter, "go", "--id", missing)
            self.assertEqual(self.paid(), [])
            self.assertRegex(self.ok("explain", missing).stdout,
                             rf"c1 pay \(trust .*\): denied: .*\b{missing}\b")

    def test_a_tool_that_needs_only_what_is_granted_runs(self):
        self.ok("run", self.declaring("needs: [fs_read]", GRANT), "go", "--id", "r")
        self.assertEqual(self.paid(), [{"amount": 5}])
        # One that does not say what it needs needs everything.
        self.ok("run", self.declaring("trust: high", GRANT), "go", "--id", "s")
        self.assertEqual(self.paid(), [{"amount": 5}])

    def test_an_untrusted_tool_asks_every_time(self):
        charter = self.declaring("trust: untrusted")
        for number in (1, 2):
            run = f"r{number}"
            self.ok("run", charter, "go", "--id", run, code=4)
            self.assertEqual(len(self.paid()), number - 1)
            self.assertIn("(trust trust.untrusted)", self.ok("explain", run).stdout)
            self.refused("approve", run, "--always", code=1, says="asks every time")
            self.ok("resume", run, code=4)  # nobody has approved anything
            self.ok("approve", run, "c1")
            self.ok("resume", run)
            self.assertEqual(len(self.paid()), number)
        self.assertIn("nothing is remembered", self.ok("approvals", "--remembered").stdout)
        self.ok("run", self.declaring("trust: low"), "go", "--id", "s")
        self.assertEqual(len(self.paid()), 3)

    def test_a_risk_at_the_threshold_asks_and_one_below_does_not(self):
        for risk in ("high", "critical"):
            self.ok("run", self.declaring(f"risk: {risk}", RISKY), "go", "--id", risk, code=4)
            self.assertEqual(self.paid(), [])
            self.assertRegex(self.ok("explain", risk).stdout,
                             rf"\(approval_policy threshold\): put before a person: .*{risk}")
        self.ok("run", self.declaring("risk: medium", RISKY), "go", "--id", "medium")
        self.assertEqual(self.paid(), [{"amount": 5}])
        self.ok("approve", "high", "c1")
        self.ok("resume", "high")
        self.assertEqual(len(self.paid()), 2)

    def test_a_terminal_tool_answers_in_the_model_s_place(self):
        # A second model call would fail the run: the script has one reply.
        once = "  - call: [{ tool: pay, input: { amount: 5 } }]\n"
        said = self.ok("run", self.declaring("terminal: true", replies=once), "go", "--id", "r")
        self.assertTrue(said.stdout.endswith("\npaid\n"), said.stdout)
        summary = self.summary("r")
        self.assertEqual((summary["status"], summary["output"]), ("done", "paid\n"))
        self.assertEqual(summary["usage"]["model_calls"], 1)
        self.assertEqual([event["type"] for event in self.events("r")].count("model_replied"), 1)
        self.assertEqual(self.paid(), [{"amount": 5}])
        self.ok("replay", "r")

    def test_a_terminal_tool_that_fails_leaves_the_answer_to_the_model(self):
        charter = self.declaring("terminal: true")
        self.write("pay.sh", "#!/bin/sh\necho no money >&2\nexit 1\n", 0o755)
        self.ok("run", charter, "go", "--id", "r")
        self.assertEqual(self.summary("r")["output"], "Done.")
        self.assertEqual(self.finished("r")[0]["end"], "failed")


class Explained(PayStage):
    def test_a_guard_is_named_with_its_step_and_what_to_change(self):
        again = "  - { endless: true, call: [{ tool: pay, input: { amount: 5 } }] }\n"
        self.ok("run", self.paying(replies=again, more=""), "go", "--id", "r", code=5)
        self.assertEqual(len(self.paid()), 2)  # the third is the one that is not made
        told = self.ok("explain", "r").stdout
        self.assertIn("stopped in step 3", told)
        self.assertIn("guard identical_calls: 3 identical calls of pay in a row", told)
        self.assertIn("`guards.identical_calls`", told)
        self.assertEqual(self.summary("r")["reason"], "repeated_call")

    def test_calls_that_differ_are_no_circle(self):
        differing = "".join(f"  - call: [{{ tool: pay, input: {{ amount: {n} }} }}]\n"
                            for n in (5, 5, 6, 5, 5)) + "  - text: Done.\n"
        self.ok("run", self.paying(replies=differing, more=""), "go", "--id", "r")
        self.assertEqual(len(self.paid()), 5)
        self.assertNotIn("guard", self.ok("explain", "r").stdout)


NO_PUSH = """guardrails:
  - { id: no-push, tool: bash, arguments: { command: { runs: ["git push"] } }, verdict: deny }
"""
SPELLINGS = (
    "git-push", "/usr/lib/git-core/git-push x", "env git-push", "git rebase -x 'git push' x",
    "git bisect run sh -c 'git push'", "git submodule foreach 'git push'",
    "git -c core.pager='git push' log", "git config alias.x push", "PAGER='git push' git log",
    "PROMPT_COMMAND='git push' bash -i -c true", "a=(git push); \"${a[@]}\"",
    "set -- git push; \"$@\"", "printf -v c %s git; $c push", "read -r c <<< git; $c push",
    "eval 'g''it' pu'sh'", "sh -c \"$(echo git push)\"", ". /dev/stdin <<< 'git push'",
    "source <(echo git push)", "builtin command git push", "exec git push", "echo push | xargs git",
    "f() { \"$@\"; }; f git push", "alias p='git push'; p", "trap 'git push' EXIT",
    "coproc git push", "git ${x:=push}", "/???/bin/g?t push", "[g]it push", "git {push,}",
    "x=push; git ${x@E}", "declare -n r=v; v=git; $r push", "hash -p /usr/bin/git zz; zz push",
    "mapfile -t l <<< 'git push'; ${l[0]}", "IFS=_; c=git_push; $c", "\"$x\" push",
    "[[ -n $(git push) ]]", "script -c 'git push' /dev/null", "parallel git ::: push",
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/git push", "git \\\npush",
)


class NoPush(PayStage):
    def test_none_of_the_spellings_of_a_denied_command_runs_by_itself(self):
        calls = ", ".join("{ tool: bash, input: { command: " + json.dumps(text) + " } }"
                          for text in SPELLINGS)
        self.write("c.script.yaml", f"replies:\n  - call: [{calls}]\n  - text: Done.\n")
        self.write("c.yaml", "name: c\nmodel: scripted/c.script.yaml\ninstructions: Go.\n"
                   "tools: { use: [bash] }\nsandbox: { level: local, network: full, "
                   "directory: work, write: [work] }\nguards: { tool_errors: off }\n" + NO_PUSH)
        (self.directory / "work").mkdir()
        self.ok("run", "c.yaml", "go", "--id", "r", code=4)
        told = self.ok("explain", "r").stdout
        counts = re.search(r"Calls: (\d+) permitted, (\d+) put before a person, (\d+) denied", told)
        self.assertIsNotNone(counts, told)
        permitted, asked, denied = map(int, counts.groups())
        self.assertEqual((permitted, asked + denied), (0, len(SPELLINGS)), told)
        self.assertEqual([event for event in self.events("r") if event["type"] == "tool_finished"],
                         [])


if __name__ == "__main__":
    main()
