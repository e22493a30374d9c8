"""Several processes at once on one directory."""

import concurrent.futures

from .bench import Violation, json_lines, rest_of
from .oracle import (carry_on, check_acknowledged, check_done, check_ledgers, check_store,
                     resolve_doubts)
from .trials import Rig


class TwoDrivers(Rig):
    """Two or more that resume the same run at the same moment, again and again: one drives it."""
    NAME = "two-drivers"
    COUNT = 6

    def plan(self, count, chance):
        return [(chance.randint(2, 5),) for _ in range(count or 100)]

    def perform(self, stage, trial, chance):
        process = stage.spawn("run", "work.yaml", "--id", "r", "--json")
        shown = process.stdout.readline()
        process.kill()
        rest, _ = rest_of(process)
        stage.acknowledge("r", json_lines(shown + rest))
        for _ in range(4):
            drivers = [stage.spawn("resume", "r", "--json") for _ in range(trial[0])]
            ends = [stage.end(driver, ["resume", "r"], "r") for driver in drivers]
            for end in ends:
                # Somebody else drives it, or was done with it before this one had come so far.
                refused = end.code == 1 and ("driven" in end.err or "is over" in end.err)
                if end.code not in (0, 4) and not refused:
                    raise Violation(f"a driver ended with {end.code}: {end.err}")
            resolve_doubts(stage, "r")
        carry_on(stage, "r")
        check_done(stage, "r")
        check_ledgers(stage)
        check_store(stage)


class ManyDrivers(Rig):
    """Each its own run, all on one directory, some of them killed."""
    NAME = "many-drivers"
    COUNT = 1
    PROCESSES = 12
    PROCESSES_ALL = 50

    def plan(self, count, chance):
        return [(self.PROCESSES if count == 1 else self.PROCESSES_ALL,)] * (count or 3)

    def perform(self, stage, trial, chance):
        runs = [f"m{i}" for i in range(trial[0])]
        processes = {run: stage.spawn("run", "work.yaml", "--id", run, "--json", out=-1)
                     for run in runs}
        doomed = set(chance.sample(runs, len(runs) // 5))
        with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
            watched = {run: pool.submit(self.watch, processes[run], run in doomed)
                       for run in runs}
        waited = 0
        for run, ending in watched.items():
            code, out, err = ending.result()
            stage.acknowledge(run, json_lines(out))
            crowded = code == 1 and "another process is writing" in err  # for 30 s: it may give up
            waited += crowded
            if code != 0 and not (code == -9 and run in doomed) and not crowded:
                raise Violation(f"{run} ended with {code}: {err}")
            check_acknowledged(stage, run)
            carry_on(stage, run)
            check_done(stage, run)
        check_store(stage)
        self.check_keys(stage, len(runs))
        return waited

    def conclude(self, results):
        return f"{sum(results)} processes gave up waiting for the others", []

    @staticmethod
    def watch(process, doomed):
        out = process.stdout.readline() if doomed else ""
        if doomed:
            process.kill()
        rest, err = rest_of(process)
        return process.returncode, out + rest, err

    @staticmethod
    def check_keys(stage, runs):
        for effect, calls in (("once", 2), ("reconcilable", 2)):
            keys = [key for key, _ in stage.ledger(effect)]
            if len(keys) != len(set(keys)) or len(keys) != calls * runs:
                raise Violation(f"{len(keys)} effects of {effect} tools, {len(set(keys))} keys, "
                                f"{calls * runs} calls")
