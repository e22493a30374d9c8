#!/usr/bin/env python3
"""Approvals that are signatures: whose they are, what they are for, and that a name is no key."""

import json
import os
import re
import subprocess

from approvals_test import PayStage
from support import PAWL, PATIENCE_S, main

FOUR = "approvals: { policy: always_require, four_eyes: true }\n"


class Signatures(PayStage):
    def identity(self, name):
        """Makes a key; gives its file and its public part."""
        file = self.directory / f"{name}.pem"
        made = self.ok("identity", "new", "--identity", file)
        return file, made.stdout.strip()

    def people(self):
        """ann with two keys, bob and cho; a policy that lists them."""
        self.ann, ann = self.identity("ann")
        self.second, second = self.identity("second")
        self.bob, bob = self.identity("bob")
        _, self.cho = self.identity("cho")
        self.eve, _ = self.identity("eve")
        return self.write("policy.yaml", f'approvers: {{ ann: ["{ann}", "{second}"], '
                          f'bob: "{bob}", cho: "{self.cho}" }}\n')

    def begun(self, run="r", more=FOUR, by=None):
        policy = self.people() if not hasattr(self, "ann") else self.directory / "policy.yaml"
        self.policy = policy
        self.ok("run", self.paying(more=more), "go", "--id", run, "--policy", policy,
                "--identity", by or self.ann, code=4)

    def approving(self, *words, code=0, says=""):
        result = self.pawl("approve", *words)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertIn(says, result.stderr)

    def carried_on(self, run="r"):
        self.ok("resume", run, "--policy", self.policy)

    def test_an_identity_is_for_its_owner_only(self):
        file, public = self.identity("ann")
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        self.assertTrue(public.startswith("ed25519:"))
        self.assertEqual(self.ok("identity", "--identity", file).stdout.strip(), public)
        self.refused("identity", "new", "--identity", file, code=1, says="is there already")
        self.refused("identity", "--identity", "none.pem", code=2, says="pawl identity new")

    def with_passphrase(self, *words, phrases):
        """At a terminal, where each question for a passphrase gets its answer."""
        return self.at_terminal(*words, answers=[("pass phrase:", phrase) for phrase in phrases],
                                start_new_session=True)

    def test_an_identity_with_a_passphrase_is_of_no_use_without_it(self):
        file = self.directory / "ann.pem"
        refused = self.pawl("identity", "new", "--passphrase", "--identity", file)
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn("no passphrase was given", refused.stderr)
        self.assertFalse(file.exists())
        new = ("identity", "new", "--passphrase", "--identity", file)
        self.assertNotIn("ed25519:", self.with_passphrase(*new, phrases=["horse", "battery"]))
        self.assertFalse(file.exists())
        made = self.with_passphrase(*new, phrases=["correct horse", "correct horse"])
        public = re.search(r"ed25519:\S+", made)
        self.assertIsNotNone(public, made)
        self.assertIn("BEGIN ENCRYPTED PRIVATE KEY", file.read_text())
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        show = ("identity", "show", "--identity", file)
        self.assertIn(public[0], self.with_passphrase(*show, phrases=["correct horse"]))
        self.assertIn("wrong passphrase", self.with_passphrase(*show, phrases=["wrong"]))
        self.refused(*show, code=2, says="wrong passphrase")
        _, bob = self.identity("bob")
        policy = self.write("policy.yaml", f'approvers: {{ ann: "{public[0]}", bob: "{bob}" }}\n')
        self.ok("run", self.paying(more="approvals: always_require\n"), "go", "--id", "r",
                "--policy", policy, code=4)
        self.refused("approve", "r", "c1", "--identity", file, code=2, says="wrong passphrase")
        self.with_passphrase("approve", "r", "c1", "--identity", file, phrases=["correct horse"])
        self.ok("resume", "r", "--policy", policy)
        self.assertEqual(self.paid(), [{"amount": 5}])

    def test_four_eyes_without_keys_is_refused_with_its_line(self):
        charter = self.paying(more=FOUR)
        for command in ("validate", "run"):
            refused = self.pawl(command, charter)
            self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
            self.assertRegex(refused.stdout + refused.stderr, r"p\.yaml:\d+:\d+: .*four_eyes")
        one, public = self.identity("one")
        alone = self.write("alone.yaml", f'approvers: {{ one: "{public}" }}\n')
        self.refused("run", charter, "--policy", alone, code=2, says="a second person")
        wrong = self.write("wrong.yaml",
                           "approvals: { four_eyes: true }\napprovers: { x: y }\n")
        self.refused("run", charter, "--policy", wrong, code=2, says="wrong.yaml:2:")

    def test_sc_a24_the_second_person_is_a_key_of_another_person(self):
        self.begun()
        self.refused("approve", "r", "c1", code=2, says="pawl identity new")
        self.approving("r", "c1", "--identity", self.ann, code=1, says="another person")
        self.approving("r", "c1", "--identity", self.second, code=1, says="another person")
        self.approving("r", "c1", "--identity", self.eve, code=1, says="under no name")
        # Another user's name is nobody's signature.
        forged = subprocess.run(["unshare", "-r", PAWL, "approve", "r", "c1"], cwd=self.directory,
                                capture_output=True, text=True, env=self.environment(),
                                timeout=PATIENCE_S, check=False)
        self.assertNotEqual(forged.returncode, 0)
        self.assertEqual(self.paid(), [])
        self.approving("r", "c1", "--identity", self.bob)
        self.carried_on()
        self.assertEqual(self.paid(), [{"amount": 5}])
        decided = [one for one in self.events("r") if one["type"] == "call_decided"]
        self.assertEqual(json.dumps(decided).count('"signed_by": "bob"'), 1, decided)
        self.ok("verify", "r")
        self.ok("replay", "r")

    def test_who_starts_is_a_key_too(self):
        policy = self.people()
        charter = self.paying(more=FOUR)
        self.refused("run", charter, "--policy", policy, code=2, says="pawl identity new")
        self.refused("run", charter, "--policy", policy, "--identity", self.eve, code=2,
                     says="under no name")
        self.assertEqual(self.paid(), [])

    def test_a_signature_is_submitted_by_anyone(self):
        self.begun()
        text = self.pending()[0]["to_sign"]
        self.assertIn("verdict approve", text)
        signed = self.pawl("identity", "sign", "--identity", self.bob, stdin=text).stdout.strip()
        own = self.pawl("identity", "sign", "--identity", self.ann, stdin=text).stdout.strip()
        self.approving("r", "c1", "--signature", signed, code=2, says="needs --by")
        self.approving("r", "c1", "--signature", signed, "--by", "ann", code=1, says="by bob")
        self.approving("r", "c1", "--signature", own, "--by", "ann", code=1, says="another person")
        self.approving("r", "c1", "--signature", "AAAA", "--by", "bob", code=1, says="not by an")
        self.approving("r", "c1", "--signature", signed, "--by", "bob")
        self.carried_on()
        self.assertEqual(self.paid(), [{"amount": 5}])

    def test_sc_a05_a06_a_signature_is_for_one_question(self):
        self.begun()
        text = self.pending()[0]["to_sign"]
        signed = self.pawl("identity", "sign", "--identity", self.bob, stdin=text).stdout.strip()
        self.begun(run="s")
        self.approving("s", "c1", "--signature", signed, "--by", "bob", code=1, says="not by an")
        self.approving("r", "c1", "--signature", signed, "--by", "bob", "--edit", '{"amount": 9}',
                       code=1, says="not by an")
        self.approving("r", "c1", "--signature", signed, "--by", "bob")
        self.carried_on()
        self.approving("r", "c1", "--signature", signed, "--by", "bob", code=1, says="over")
        self.assertEqual(self.paid(), [{"amount": 5}])
        # A run of the same name and content later is another one.
        self.ok("rm", "r")
        self.begun()
        self.approving("r", "c1", "--signature", signed, "--by", "bob", code=1, says="not by an")
        self.assertEqual(self.paid(), [{"amount": 5}])

    def test_a_signature_for_one_call_is_none_for_the_same_call_beside_it(self):
        policy = self.people()
        pay = "{ tool: pay, input: { amount: 5 } }"
        twice = f"  - call: [{pay}, {pay}]\n  - text: Done.\n"
        self.ok("run", self.paying(replies=twice, more=FOUR), "go", "--id", "r", "--policy", policy,
                "--identity", self.ann, code=4)
        first, second = self.pending()
        self.assertNotEqual(first["to_sign"], second["to_sign"])
        signed = self.pawl("identity", "sign", "--identity", self.bob,
                           stdin=first["to_sign"]).stdout.strip()
        self.approving("r", "c2", "--signature", signed, "--by", "bob", code=1, says="not by an")
        self.approving("r", "c1", "--signature", signed, "--by", "bob")
        self.ok("resume", "r", "--policy", policy, code=4)
        self.assertEqual(len(self.paid()), 1)

    def test_listed_approvers_sign_without_four_eyes_too(self):
        self.begun(more="approvals: always_require\n")
        self.refused("approve", "r", "c1", code=2, says="pawl identity new")
        self.refused("approve", "r", "c1", "--always", code=1, says="every time")
        self.approving("r", "c1", "--identity", self.ann)
        self.carried_on()
        self.assertEqual(self.paid(), [{"amount": 5}])

    def test_a_run_without_approvers_takes_no_signatures(self):
        self.waiting()
        file, _ = self.identity("ann")
        self.approving("r", "c1", "--identity", file, code=1, says="takes no signatures")

    def test_a_key_that_the_policy_lists_no_more_does_not_count(self):
        self.begun()
        self.approving("r", "c1", "--identity", self.bob)
        _, other = self.identity("other")
        ann = self.ok("identity", "--identity", self.ann).stdout.strip()
        later = self.write("later.yaml", f'approvers: {{ ann: "{ann}", bob: "{other}", '
                           f'cho: "{self.cho}" }}\n')
        self.ok("resume", "r", "--policy", later, code=4)
        self.assertEqual(self.paid(), [])


if __name__ == "__main__":
    main()
