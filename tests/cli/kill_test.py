#!/usr/bin/env python3
"""Killed with -9 at random instants and resumed until it ends: no key twice, nothing forgotten."""

import os
import random
import time

from support import Stage, main

ROUNDS = int(os.environ.get("PAWL_KILL_ROUNDS", "30"))
RESUMES_MAX = 40


class Kill(Stage):
    def test_no_effect_is_repeated_however_often_it_is_killed(self):
        self.pay()
        seed = int(os.environ.get("PAWL_SEED", random.randrange(1 << 32)))
        print(f"PAWL_SEED={seed}")
        chance = random.Random(seed)
        seen = {"killed": 0, "in doubt": 0}
        for number in range(ROUNDS):
            self.carry_through(f"r{number}", chance, seen)
        print(seen)
        self.assertGreater(seen["killed"], 0)

    def kill_after(self, process, seconds):
        """True when it was still running."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and process.poll() is None:
            time.sleep(0.0005)
        alive = process.poll() is None
        process.kill()
        process.communicate()
        return alive

    def carry_through(self, run, chance, seen):
        ledger = self.directory / "ledger.txt"
        ledger.unlink(missing_ok=True)
        process = self.start("run", "pay.yaml", "--id", run)
        seen["killed"] += self.kill_after(process, chance.uniform(0.0, 0.12))
        if self.pawl("show", run).returncode != 0:
            self.ok("run", "pay.yaml", "--id", run)  # It was never accepted: nothing happened.
        for _ in range(RESUMES_MAX):
            if self.status(run) == "done":
                break
            if chance.random() < 0.5:
                process = self.start("resume", run)
                seen["killed"] += self.kill_after(process, chance.uniform(0.0, 0.12))
            self.resolve_doubts(run, seen)
            self.pawl("resume", run)
        self.assertEqual(self.status(run), "done", f"{run} did not end")
        self.check(run)

    def resolve_doubts(self, run, seen):
        """As a person would: by looking for the key."""
        summary = self.summary(run)
        booked = {key for key, _ in self.ledger()}
        for call in summary.get("calls", []):
            if call["state"] != "in_doubt":
                continue
            seen["in doubt"] += 1
            if call["key"] in booked:
                self.ok("resolve", run, call["call"], "--happened", "charged")
            else:
                self.ok("resolve", run, call["call"], "--did-not-happen")

    def check(self, run):
        keys = [key for key, _ in self.ledger()]
        self.assertEqual(len(keys), len(set(keys)), f"{run}: a key twice")
        self.assertEqual(sorted(amount for _, amount in self.ledger()), ["1", "2", "3"], run)
        events = self.events(run)
        self.assertEqual([event["seq"] for event in events], list(range(len(events))))
        self.ok("verify", run)


if __name__ == "__main__":
    main()
