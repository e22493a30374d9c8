"""A storm of signals: every call that can be interrupted is, over and over."""

from .bench import Violation, system_calls
from .oracle import check_everything
from .trials import Rig

MICROSECONDS = (1000, 700, 1500)


class Interrupts(Rig):
    NAME = "interrupts"
    COUNT = 6

    def prepare(self, bench):
        self.library = str(bench.shim("interrupts"))

    def plan(self, count, chance):
        return [(MICROSECONDS[i % len(MICROSECONDS)], chance.random() < 0.5)
                for i in range(count or 20)]

    def perform(self, stage, trial, chance):
        pause, killed = trial
        # Only the program: a shell of a tool that is interrupted is the tool's own business.
        storm = {"LD_PRELOAD": self.library, "PAWL_INTERRUPT_US": str(pause)}
        if killed:
            stage.drive("run", "r", faults=self.kill(stage, chance))
        ended = stage.drive("resume" if killed else "run", "r", faults=storm)
        if killed and ended.code == 4:
            return check_everything(stage)
        if ended.code != 0:
            raise Violation(f"interrupted it ended with {ended.code}: {ended.err}")
        return check_everything(stage)

    @staticmethod
    def kill(stage, chance):
        return system_calls(stage.bench, "kill-after", calls="fdatasync",
                            first=chance.randint(3, 12))
