"""Performs the trials of a rig, some at a time, and says how each violation can be repeated."""

import concurrent.futures
import random
import sys
import time
import traceback

from .bench import Unable, Violation

VIOLATIONS_SHOWN_MAX = 5


class Rig:
    """One kind of fault. `plan` lists the trials; `perform` does one, and raises a Violation."""
    NAME = ""
    COUNT = 50  # trials when nobody says how many

    def prepare(self, bench):
        """Once, before everything; raises Unable when the machine lacks something."""

    def plan(self, count, chance):
        """A list of trials, each a tuple of what perform() needs. 0 is all there are."""
        raise NotImplementedError

    def perform(self, stage, trial, chance):
        raise NotImplementedError

    def conclude(self, results):
        """A last word on what the trials returned: (text, [violations])."""
        return "", []


def sample(chance, everything, count):
    """`count` of them in their order, all if that is 0; round and round if there are too few."""
    everything = list(everything)
    if count == 0 or count == len(everything):
        return everything
    if count > len(everything):
        rounds = -(-count // len(everything))
        return (everything * rounds)[:count]
    return [everything[i] for i in sorted(chance.sample(range(len(everything)), count))]


def perform_one(rig, bench, number, trial, seed):
    chance = random.Random(f"{seed}/{rig.NAME}/{number}")
    with bench.stage(f"{rig.NAME}-{number}") as stage:
        try:
            return "ok", rig.perform(stage, trial, chance)
        except Unable as reason:
            return "skipped", str(reason)
        except Violation as violation:
            stage.keep()
            return "violation", f"{violation}{stage.story()}"
        except Exception:  # pylint: disable=broad-except
            # A rig that breaks has not shown that the program holds.
            stage.keep()
            return "violation", f"the rig itself failed\n{traceback.format_exc()}{stage.story()}"


def perform_all(rig, bench, chosen, seed):
    began = time.monotonic()
    rig.prepare(bench)
    count = chosen.count if chosen.count is not None else rig.COUNT
    trials = list(enumerate(rig.plan(count, random.Random(f"{seed}/{rig.NAME}"))))
    if chosen.trial is not None:
        trials = [pair for pair in trials if pair[0] == chosen.trial]
    with concurrent.futures.ThreadPoolExecutor(max(1, chosen.jobs)) as pool:
        pending = [(number, trial, pool.submit(perform_one, rig, bench, number, trial, seed))
                   for number, trial in trials]
        outcomes = [(number, trial, *job.result()) for number, trial, job in pending]
    skipped = [text for *_, how, text in outcomes if how == "skipped"]
    for reason in sorted(set(skipped)):
        print(f"faults: {rig.NAME}: skipped {skipped.count(reason)} trials: {reason}", flush=True)
    violations = [outcome for outcome in outcomes if outcome[2] == "violation"]
    for number, trial, _, text in violations[:VIOLATIONS_SHOWN_MAX]:
        print(f"faults: VIOLATION in {rig.NAME} {trial}: {text}\n"
              f"faults: repeat it with: {sys.argv[0]} {rig.NAME} --seed {seed} --count {count} "
              f"--trial {number} --bin {bench.program}", flush=True)
    if len(violations) > VIOLATIONS_SHOWN_MAX:
        print(f"faults: and {len(violations) - VIOLATIONS_SHOWN_MAX} more of {rig.NAME}")
    word, last = rig.conclude([text for *_, how, text in outcomes if how == "ok"])
    for text in last:
        print(f"faults: VIOLATION in {rig.NAME}: {text}\n"
              f"faults: repeat it with: {sys.argv[0]} {rig.NAME} --seed {seed} --count {count} "
              f"--bin {bench.program}", flush=True)
    found = len(violations) + len(last)
    done = len(outcomes) - len(skipped)
    print(f"faults: {rig.NAME}: {done} trials, {found} violations"
          f"{', ' + word if word else ''}, {time.monotonic() - began:.1f} s", flush=True)
    return done, found, len(skipped)
