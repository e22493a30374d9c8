"""No memory: the n-th allocation fails, once or from then on; or there is little address space."""

import resource

from .bench import Counter, Violation, system_calls
from .oracle import NOT_THERE, check_acknowledged, check_everything, check_store
from .trials import Rig, sample

MEBIBYTE = 1 << 20


def check_end(ended):
    """Going on is fine, ending with a reason is fine; dying without one is not."""
    if ended.code < 0:
        raise Violation(f"ended by signal {-ended.code}: {ended.err[-500:]}")
    if ended.code != 0 and not ended.err.strip():
        raise Violation(f"it ended with {ended.code} and without a word")
    if ended.code not in (0, 1, 2, 4) and NOT_THERE not in ended.err:
        raise Violation(f"no memory gave exit code {ended.code}: {ended.err}")


class AllocationFailures(Rig):
    NAME = "memory"
    COUNT = 60

    def prepare(self, bench):
        with bench.stage("count") as stage:
            counter = Counter(stage)
            stage.drive("run", "r", faults=self.faults(bench, 0, 0, counter))
            self.total = counter.value

    @staticmethod
    def faults(bench, first, last, counter):
        return {"LD_PRELOAD": str(bench.shim("allocations")), "PAWL_ALLOC_FIRST": str(first),
                "PAWL_ALLOC_LAST": str(last), "PAWL_ALLOC_COUNTER": str(counter.path)}

    def plan(self, count, chance):
        return sample(chance, [(n, lasting, word) for n in range(1, self.total + 1)
                               for lasting in ("once", "for ever") for word in ("run", "resume")],
                      count)

    def perform(self, stage, trial, chance):
        n, lasting, word = trial
        if word == "resume":
            stage.drive("run", "r", faults=system_calls(
                stage.bench, "kill-after", calls="fdatasync", first=chance.randint(3, 12)))
        faults = self.faults(stage.bench, n, n if lasting == "once" else 0, Counter(stage))
        check_end(stage.drive(word, "r", faults=faults))
        check_everything(stage, may_not_start=True)

    def conclude(self, results):
        return f"{self.total} allocations in a run", []


class AddressSpace(Rig):
    NAME = "address-space"
    COUNT = 12

    def plan(self, count, chance):
        return sample(chance, [(megabytes,) for megabytes in range(10, 240, 2)], count)

    def perform(self, stage, trial, chance):
        size = trial[0] * MEBIBYTE

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

        ended = stage.drive("run", "r", preexec=limit)
        if ended.code == 127:  # The dynamic linker's own word, before there is a program.
            return False
        if ended.code == 5 and "tool_errors" in ended.err:  # Tools have the same limit, and failed.
            check_acknowledged(stage, "r")
            check_store(stage)
            return False
        check_end(ended)
        check_everything(stage, may_not_start=True)
        return ended.code == 0

    def conclude(self, results):
        return f"{sum(results)} ended well", []
