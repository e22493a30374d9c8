#!/usr/bin/env python3
"""Calls that wait for people: asked once, decided once, run once, bound to what was shown."""

import contextlib
import json
import os
import pty
import select
import sqlite3
import subprocess
import time

from support import PAWL, PATIENCE_S, Stage, main

PAY = """    pay:
      description: Pays.
      command: [./pay.sh]
      effect: once
      input: { type: object, properties: { amount: { type: integer } }, required: [amount] }
"""
ONE = ("  - text: I list the files.\n    call: [{ tool: pay, input: { amount: 5 } }]\n"
       "  - text: Done.\n")
APPROVERS = 100


class PayStage(Stage):
    def paying(self, replies=ONE, more="approvals: always_require\n", tools=PAY):
        self.write("pay.sh", "#!/bin/sh\nprintf '%s\\n' \"$(cat)\" >>paid\necho paid\n", 0o755)
        return self.charter("p", replies, tools, more=more)

    def paid(self):
        path = self.directory / "paid"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def waiting(self, **how):
        self.ok("run", self.paying(**how), "go", "--id", "r", code=4)

    def pending(self):
        return [json.loads(line) for line in self.ok("approvals", "--json").stdout.splitlines()]

    def at_terminal(self, *words, answers, typed="", **how):
        """What a terminal gets; each answer is typed when its question is there, in order."""
        master, slave = pty.openpty()
        os.write(master, typed.encode())
        process = subprocess.Popen([PAWL, *map(str, words)], cwd=self.directory, stdin=slave,
                                   stdout=slave, stderr=slave, env=self.environment(), **how)
        self.started.append(process)
        os.close(slave)
        seen, asked = "", 0
        while select.select([master], [], [], PATIENCE_S)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:  # Linux's way of saying that nobody writes any more
                break
            seen += piece.decode(errors="replace")
            if answers and answers[0][0] in seen[asked:]:
                asked = len(seen)
                os.write(master, (answers[0][1] + "\n").encode())
                answers = answers[1:]
        os.close(master)
        process.wait(timeout=PATIENCE_S)
        return seen


class Approvals(PayStage):
    def test_a_decision_can_drive_the_run_on(self):
        for run, words, said, paid in (
                ("a", ("approve", "a"), "c1 pay done: paid", [{"amount": 5}]),
                ("d", ("deny", "d", "--reason", "Not today."), "step 2", [])):
            self.ok("run", self.paying(), "go", "--id", run, code=4)
            shown = self.ok(*words, "--resume").stdout
            self.assertIn(said, shown)
            self.assertIn("Done.", shown)
            self.assertEqual(self.paid(), paid)
            (self.directory / "paid").unlink(missing_ok=True)

    def test_an_approval_runs_the_call_exactly_once(self):
        self.waiting()
        self.assertEqual(self.paid(), [])
        shown = self.ok("approvals").stdout
        self.assertIn('{"amount":5}', shown.replace(" ", ""))
        self.assertIn("model> I list the files.", shown)
        self.assertIn("pawl approve r c1", shown)
        self.assertIn("waits for a person", self.ok("explain", "r").stdout)
        self.ok("approve", "r", "c1")
        self.ok("resume", "r")
        self.assertEqual(self.paid(), [{"amount": 5}])
        self.refused("approve", "r", "c1", code=1, says="over")
        self.assertIn("1 permitted, 1 put before a person, 0 denied",
                      self.ok("explain", "r").stdout)
        self.ok("replay", "r")

    def test_a_denial_reaches_the_model(self):
        self.waiting()
        self.ok("deny", "r", "--reason", "too dear")
        self.ok("resume", "r")
        self.assertEqual(self.paid(), [])
        self.assertIn("denied by", json.dumps(self.events("r")))
        self.assertIn("too dear", self.ok("explain", "r").stdout)

    def test_it_is_asked_once_however_often_it_is_taken_up(self):
        self.waiting()
        binding = self.pending()[0]["binding"]
        for _ in range(20):
            self.ok("resume", "r", code=4)
        self.assertEqual([one["binding"] for one in self.pending()], [binding])
        self.assertEqual(json.dumps(self.events("r")).count("approval_asked"), 1)

    def racing(self, call, count):
        """(exit code, all that it said) of so many approvers who start at the same time."""
        said = []
        for process in [self.start("approve", "r", call) for _ in range(count)]:
            out, err = process.communicate(timeout=PATIENCE_S)
            said.append((process.returncode, out + err))
        return said

    def one_is_told_yes(self, said):
        told = [code for code, _ in said]
        self.assertEqual((told.count(0), told.count(1)), (1, len(said) - 1), said)
        for code, text in said:
            if code:
                self.assertRegex(text, "was answered before: it is approved|"
                                 "waits for n(obody's|o) decision")

    def inbox_rows(self):
        store = self.data / "pawl.db"
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened:
            return opened.execute("SELECT count(*) FROM inbox").fetchone()[0]

    def decided(self):
        return [event for event in self.events("r") if event["type"] == "call_decided"]

    def test_of_a_hundred_approvers_of_a_run_that_is_parked_one_wins(self):
        self.waiting()
        self.one_is_told_yes(self.racing("c1", APPROVERS))
        self.assertEqual(self.inbox_rows(), 1)
        self.ok("resume", "r")
        self.assertEqual(self.paid(), [{"amount": 5}])
        self.assertEqual(len(self.decided()), 1)
        self.ok("replay", "r")

    def test_approvers_who_are_killed_are_told_nothing_and_count_once(self):
        self.waiting()
        racing = [self.start("approve", "r", "c1") for _ in range(APPROVERS // 2)]
        for number, process in enumerate(racing):
            if number % 3 == 0:
                time.sleep(0.003 * (number % 7))
                process.kill()
        for process in racing:
            process.communicate(timeout=PATIENCE_S)
        told = [process.returncode for process in racing]
        self.assertLessEqual(told.count(0), 1, told)
        stored = self.inbox_rows()  # by one who lived to say so, or by one who did not
        later = [code for code, _ in self.racing("c1", 2)]
        self.assertEqual(stored + later.count(0), 1, later)
        self.ok("resume", "r")
        self.assertEqual(self.paid(), [{"amount": 5}])
        self.assertEqual(len(self.decided()), 1)

    def test_who_answers_again_is_told_how_it_was_decided_and_not_by_whom(self):
        """It may have been himself, in a process that was killed before it said so."""
        self.waiting(replies="  - call: [{ tool: pay, input: { amount: 5 } }]\n"
                     "  - call: [{ tool: pay, input: { amount: 6 } }]\n"
                     "  - call: [{ tool: pay, input: { amount: 7 } }]\n  - text: Done.\n")
        for call, first, how in (("c1", "approve", "approved"), ("c2", "deny", "denied")):
            self.ok(first, "r", call)
            for taken_up in (False, True):
                for again in ("approve", "deny"):
                    said = self.pawl(again, "r", call)
                    self.assertEqual(said.returncode, 1, said.stdout)
                    self.assertIn(f"{call} of run r was answered before: it is {how}", said.stderr)
                    self.assertNotIn("another", said.stderr)
                if not taken_up:
                    self.ok("resume", "r", code=4)
        self.assertEqual(self.paid(), [{"amount": 5}])

    def test_of_approvers_who_come_while_a_run_is_taken_up_one_wins(self):
        """The run is taken up, decided and parked again in the middle of them."""
        self.waiting(replies="  - call: [{ tool: pay, input: { amount: 5 } }]\n"
                     "  - call: [{ tool: pay, input: { amount: 6 } }]\n  - text: Done.\n")
        racing = [self.start("approve", "r", "c1") for _ in range(APPROVERS // 2)]
        racing.append(self.start("resume", "r"))
        racing += [self.start("approve", "r", "c1") for _ in range(APPROVERS // 2)]
        told = []
        for process in racing:
            process.communicate(timeout=PATIENCE_S)
            if "resume" not in process.args:
                told.append(process.returncode)
        self.ok("resume", "r", code=4)
        self.assertEqual(told.count(0), 1, told)
        self.assertEqual([one["call"] for one in self.decided()], ["c1"])
        self.assertEqual(self.paid(), [{"amount": 5}])

    def test_of_a_hundred_approvers_of_a_run_that_is_driven_one_wins(self):
        """Another call of the same reply keeps the run with its driver, which is a `resume`."""
        self.gated()
        gate = "    gate: { command: [./gate.sh], effect: idempotent, timeout: 10m }\n"
        self.asking(replies="  - call: [{ tool: gate, input: {} }, { tool: pay, input: "
                    "{ amount: 5 } }]\n  - text: Done.\n", tools=PAY + gate)
        killed = self.start("run", "p.yaml", "go", "--id", "r")
        self.wait_for_keys(1)
        killed.kill()
        killed.communicate()
        driving = self.start("resume", "r")
        self.wait_for_keys(2)
        said = self.racing("c2", APPROVERS)
        self.wait_for(self.paid, "the payment")
        said += self.racing("c2", 3)
        self.one_is_told_yes(said)
        self.wait_for(lambda: self.inbox_rows() == 0, "what was refused to leave the inbox")
        self.wait_for(lambda: any(one["type"] == "tool_finished" for one in self.events("r")))
        driving.kill()
        driving.communicate()
        driving = self.start("resume", "r")
        self.open_gate()
        self.end(driving, 0)
        self.assertEqual(self.paid(), [{"amount": 5}])
        self.assertEqual([(one["call"], one["decision"]) for one in self.decided()],
                         [("c2", "approve")])
        self.ok("replay", "r")

    def test_a_script_that_was_changed_after_the_approval_does_not_run(self):
        self.waiting()
        self.ok("approve", "r", "c1")
        self.write("pay.sh", "#!/bin/sh\necho stolen >stolen\n", 0o755)
        self.ok("resume", "r", code=4)
        self.assertFalse((self.directory / "stolen").exists())
        self.assertIn("has changed since it was approved", self.pending()[0]["reason"])

    def test_edited_arguments_are_what_runs(self):
        self.waiting()
        self.refused("approve", "r", "--edit", "{", code=2, says="not JSON")
        self.ok("approve", "r", "--edit", '{"amount": 4}')
        self.ok("resume", "r")
        self.assertEqual(self.paid(), [{"amount": 4}])

    def test_nobody_s_answer_is_no(self):
        self.waiting(more="approvals: { policy: always_require, expires: 1s }\n")
        self.wait_for(lambda: self.pending()[0]["expires_at_ms"] < time.time() * 1000)
        self.refused("approve", "r", "--edit", "[", code=2, says="not JSON")
        self.ok("resume", "--due")
        self.assertEqual(self.status("r"), "done")
        self.assertEqual(self.paid(), [])
        self.assertIn("nobody answered in time", self.ok("explain", "r").stdout)

    def test_an_approval_is_for_its_own_run_and_not_for_one_that_is_over(self):
        self.waiting()
        digest = self.pending()[0]["digest"]
        self.write("p.script.yaml", "replies:\n" + ONE.replace("5", "6"))
        self.ok("run", "p.yaml", "go", "--id", "s", code=4)
        self.refused("approve", "s", "c1", "--digest", digest, code=1, says="the digest of what")
        self.refused("approve", "s", "c2", code=1, says="c2 waits for no decision")
        self.pawl("cancel", "s")
        self.refused("approve", "s", "c1", code=1, says="over")
        self.assertEqual(self.paid(), [])

    def test_a_plan_is_approved_as_one(self):
        replies = ("  - call: [{ tool: pay, input: { amount: 1 } }, { tool: pay, input: "
                   "{ amount: 2 } }]\n  - text: Done.\n")
        self.waiting(replies=replies,
                     more="approvals: { policy: { threshold: { steps: 1 } } }\n")
        self.assertEqual(len(self.pending()), 2)
        self.ok("approve", "r", "--plan")
        self.ok("resume", "r")
        self.assertEqual(sorted(one["amount"] for one in self.paid()), [1, 2])

    def test_what_is_hidden_is_shown(self):
        hidden = "  - call: [{ tool: pay, input: { amount: 5, note: \"a\\u202Eb\\x1b[2K\" } }]\n"
        self.waiting(replies=hidden + "  - text: Done.\n")
        shown = self.ok("approvals").stdout
        self.assertIn("<U+202E>", shown)
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("\u202e", shown)

    def test_long_arguments_need_their_digest(self):
        padded = "x" * 20000
        self.waiting(replies="  - call: [{ tool: pay, input: { amount: 5, note: \"" + padded +
                     "\" } }]\n  - text: Done.\n")
        self.refused("approve", "r", code=1, says="--digest")
        digest = self.pending()[0]["digest"]
        self.assertIn("x" * 60, self.ok("approve", "r", "--full").stdout)
        self.ok("approve", "r", "--digest", digest[:16])
        self.ok("resume", "r")
        self.assertEqual(len(self.paid()), 1)

    def test_a_question_waits_for_its_answer(self):
        self.write("q.script.yaml", "replies:\n  - call: [{ tool: ask_user, input: { question: "
                   "\"Which branch?\" } }]\n  - text: Thanks.\n")
        self.write("q.yaml", "name: q\nmodels: { main: scripted/q.script.yaml }\n"
                   "tools: { use: [ask_user] }\ninstructions: Ask.\n")
        self.ok("run", "q.yaml", "go", "--id", "q", code=4)
        self.assertEqual(self.pending()[0]["kind"], "input")
        self.refused("approve", "q", "c1", code=1, says="asks a question")
        self.refused("approve", "q", "--plan", code=1, says="is not waiting for an approval")
        self.ok("answer", "q", "main")
        self.ok("resume", "q")
        self.assertIn('"main"', json.dumps(self.events("q")))

    def test_rules_deny_and_their_scripts_decide(self):
        self.write("check.sh", "#!/bin/sh\ngrep -q 'amount..:5' && echo deny too much || "
                   "echo allow\n", 0o755)
        rules = "guardrails: [{ id: checked, tool: pay, verdict: ask, script: ./check.sh }]\n"
        self.ok("run", self.paying(more=rules), "go", "--id", "r")
        self.assertEqual(self.paid(), [])
        self.assertIn("(rule checked): denied: too much", self.ok("explain", "r").stdout)
        os.remove(self.directory / "check.sh")
        self.ok("run", self.paying(more=rules), "go", "--id", "s")
        self.assertEqual(self.paid(), [])

    def test_arguments_that_are_no_object_are_no_answer(self):
        self.waiting()
        self.refused("approve", "r", "c1", "--edit", "[]", code=2, says="are a JSON object")
        self.ok("deny", "r", "c1")

    def test_a_plan_is_a_plan_also_where_scripts_judge_its_steps(self):
        self.write("check.sh", "#!/bin/sh\necho allow\n", 0o755)
        three = ", ".join(f"{{ tool: pay, input: {{ amount: {n} }} }}" for n in range(3))
        for run, most, code in (("r", 2, 4), ("s", 3, 0)):
            self.ok("run", self.paying(
                replies=f"  - call: [{three}]\n  - text: Done.\n",
                more=f"approvals: {{ policy: {{ threshold: {{ steps: {most} }} }} }}\n"
                "guardrails: [{ id: checked, tool: pay, script: ./check.sh }]\n"),
                    "go", "--id", run, code=code)
            self.assertEqual(len(self.paid()), 0 if code else 3)

    def test_a_script_sees_what_a_person_has_edited(self):
        self.write("check.sh", "#!/bin/sh\ngrep -q 'amount..:9' && echo deny too much || "
                   "echo ask\n", 0o755)
        self.waiting(more="guardrails: [{ id: checked, tool: pay, script: ./check.sh }]\n")
        self.ok("approve", "r", "c1", "--edit", '{"amount":9}')
        self.ok("resume", "r")
        self.assertEqual(self.paid(), [])
        self.assertIn("(rule checked): denied: too much", self.ok("explain", "r").stdout)

    def asking(self, more="", replies=ONE, tools=PAY):
        charter = self.paying(replies=replies, more=more, tools=tools)
        text = (self.directory / charter).read_text()
        return self.write(charter, text.replace("tools:\n", "tools:\n  ask: [pay]\n"))

    def test_what_was_approved_for_always_is_not_asked_again(self):
        charter = self.asking()
        self.ok("run", charter, "go", "--id", "r1", code=4)
        self.refused("approve", "r1", "--always", "--edit", "{}", code=2, says="neither")
        self.assertIn("--forget", self.ok("approve", "r1", "--always").stdout)
        self.ok("resume", "r1")
        self.ok("run", charter, "go", "--id", "r2")
        self.assertEqual(len(self.paid()), 2)
        self.assertIn('"remembered"', json.dumps(self.events("r2")))
        listed = json.loads(self.ok("approvals", "--remembered", "--json").stdout)
        self.assertEqual((listed["tool"], listed["input"]), ("pay", '{"amount":5}'))
        self.assertEqual((self.data / "remembered.jsonl").stat().st_mode & 0o077, 0)
        # Other bytes, another program behind the same name: asked.
        self.write("p.script.yaml", "replies:\n" + ONE.replace("5", "6"))
        self.ok("run", charter, "go", "--id", "r3", code=4)
        self.write("p.script.yaml", "replies:\n" + ONE)
        self.write("pay.sh", "#!/bin/sh\necho stolen >stolen\n", 0o755)
        self.ok("run", charter, "go", "--id", "r4", code=4)
        self.asking()
        self.ok("run", charter, "go", "--id", "r5")
        self.ok("approvals", "--forget", listed["id"])
        self.ok("run", charter, "go", "--id", "r6", code=4)
        self.assertIn("nothing is remembered", self.ok("approvals", "--remembered").stdout)
        self.refused("approvals", "--forget", listed["id"], code=1, says="nothing is remembered")

    def test_whose_approval_came_too_late_is_not_remembered(self):
        charter = self.asking()
        self.ok("run", charter, "go", "--id", "r1", code=4)
        self.ok("deny", "r1", "c1")
        self.refused("approve", "r1", "c1", "--always", code=1, says="it is denied")
        self.assertIn("nothing is remembered", self.ok("approvals", "--remembered").stdout)
        self.ok("run", charter, "go", "--id", "r2", code=4)
        self.assertEqual(self.paid(), [])

    def test_what_asks_every_time_is_not_remembered(self):
        self.waiting()
        self.refused("approve", "r", "--always", code=1, says="asks every time")
        self.assertEqual(self.paid(), [])

    def test_a_list_of_remembered_approvals_that_is_damaged_allows_nothing(self):
        charter = self.asking()
        self.ok("run", charter, "go", "--id", "r1", code=4)
        self.ok("approve", "r1", "--always")
        with open(self.data / "remembered.jsonl", "a", encoding="utf-8") as file:
            file.write("x")
        self.ok("run", charter, "go", "--id", "r2", code=4)
        self.refused("approvals", "--remembered", code=6, says="remembered.jsonl: line 2")

    def test_a_charter_tightens_the_user_s_policy_and_never_loosens_it(self):
        policy = self.write("policy.yaml", "guardrails: [{ id: no-pay, tool: pay, verdict: deny, "
                            "reason: nobody pays here }]\n")
        charter = self.paying(more="")
        self.ok("run", charter, "go", "--id", "r", "--policy", policy)
        self.assertEqual(self.paid(), [])
        told = self.ok("explain", "r", "--policy", policy).stdout
        self.assertIn("(rule no-pay): denied: nobody pays here", told)
        self.assertIn("a charter can only tighten it", told)
        loose = self.paying(more="guardrails: [{ id: no-pay, enabled: false }]\n")
        self.refused("run", loose, "go", "--id", "s", "--policy", policy, code=2,
                     says="can only tighten")
        self.refused("validate", loose, "--policy", policy, code=2, says="1 fault")
        # As a part of the configuration file, which is found by itself.
        (self.directory / ".config/pawl").mkdir(parents=True)
        self.write(".config/pawl/config.yaml", "policy: { allow: [view] }\n")
        self.ok("run", self.paying(more=""), "go", "--id", "t")
        self.assertEqual(self.paid(), [])
        self.assertIn("allow_list", self.ok("explain", "t").stdout)
        # Both hold.
        self.write("policy.yaml", "allow: [pay]\n")
        self.ok("run", charter, "go", "--id", "u", "--policy", policy)
        self.assertEqual(self.paid(), [])
        self.write("policy.yaml", "alow: [pay]\n")
        self.refused("run", charter, "go", "--id", "v", "--policy", policy, code=2,
                     says="policy.yaml:1:1")
        self.refused("run", charter, "go", "--id", "v", "--policy", "gone.yaml", code=2,
                     says="gone.yaml")

    def test_a_script_of_the_policy_is_the_user_s_and_not_the_project_s(self):
        (self.directory / "own").mkdir()
        self.write("own/check.sh", "#!/bin/sh\necho deny not here\n", 0o755)
        policy = self.write("own/policy.yaml", "guardrails: [{ id: checked, tool: pay, script: "
                            "./check.sh }]\n")
        self.write("check.sh", "#!/bin/sh\necho allow\n", 0o755)
        self.ok("run", self.paying(more=""), "go", "--id", "r", "--policy", policy)
        self.assertEqual(self.paid(), [])
        self.assertIn("(rule checked): denied: not here", self.ok("explain", "r").stdout)

    def test_stages_say_who_may_add_a_tool_and_which_agent_may_call_it(self):
        policy = self.write("policy.yaml", "tools: { pay: { execute: [cashier] } }\n")
        self.ok("run", self.paying(more=""), "go", "--id", "r", "--policy", policy)
        self.assertEqual(self.paid(), [])
        self.assertIn("agents that may: cashier", self.ok("explain", "r").stdout)
        self.write("policy.yaml", "{ tools: { pay: { author: administrator } }, "
                   "administrators: [nobody-here] }\n")
        self.refused("run", "p.yaml", "go", "--id", "s", "--policy", policy, code=2,
                     says="only an administrator may add")

    def test_at_a_terminal_the_run_asks(self):
        said = self.at_terminal("run", self.paying(), "go", "--id", "r", answers=[("? ", "y")])
        self.assertIn("[y]es, [n]o", said)
        self.assertEqual(self.paid(), [{"amount": 5}])
        charter = self.asking()
        for run in ("s", "t"):
            said = self.at_terminal("run", charter, "go", "--id", run, answers=[("? ", "a")])
            self.assertEqual("[a]lways" in said, run == "s", said)
        self.assertEqual(len(self.paid()), 3)

    def test_what_was_typed_before_the_question_is_no_answer_to_it(self):
        said = self.at_terminal("run", self.paying(), "go", "--id", "r", typed="y\ny\ny\n",
                                answers=[("? ", "n"), ("reads it): ", "not like this")])
        self.assertEqual(self.paid(), [], said)
        self.assertIn("not like this", self.ok("explain", "r").stdout)


if __name__ == "__main__":
    main()
