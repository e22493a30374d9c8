"""A driver that is stopped (SIGSTOP, a swapped-out machine, a debugger) and one that takes over."""

import os
import signal

from .bench import Violation
from .oracle import NOT_THERE, carry_on, check_done, check_store
from .trials import Rig


class StoppedDriver(Rig):
    NAME = "stopped"
    COUNT = 4

    def plan(self, count, chance):
        return [(("continued", "killed")[i % 2],) for i in range(count or 40)]

    def perform(self, stage, trial, chance):
        process = stage.spawn("run", "gate.yaml", "--id", "r", "--json")
        stage.wait_for(lambda: stage.ledger("once"), "the tool")
        os.kill(process.pid, signal.SIGSTOP)
        for _ in range(chance.randint(1, 3)):
            refused = stage.pawl("resume", "r", "--json")
            if refused.code != 1 or "driven" not in refused.err:
                raise Violation(f"a second driver of a stopped one's run: {refused.code} "
                                f"{refused.err}")
        other = stage.drive("run", "other")  # Runs of others go on.
        if other.code != 0:
            raise Violation(f"another run was held up: {other.code} {other.err}")
        if trial[0] == "killed":
            self.take_over(stage, process)
        else:
            self.continue_it(stage, process)
        check_done(stage, "r")
        check_store(stage)
        gates = [key for key, input in stage.ledger("once") if input == "gate"]
        if len(gates) != 1:
            raise Violation(f"the effect happened {len(gates)} times")

    @staticmethod
    def continue_it(stage, process):
        (stage.directory / "gate").touch()
        os.kill(process.pid, signal.SIGCONT)
        ended = stage.end(process, ["run"], "r")
        if ended.code != 0:
            raise Violation(f"the driver that went on ended with {ended.code}: {ended.err}")

    @staticmethod
    def take_over(stage, process):
        process.kill()
        stage.acknowledge("r", [])
        process.communicate()
        (stage.directory / "gate").touch()
        first = stage.drive("resume", "r")  # The lock is free at once.
        if first.code not in (0, 4) or NOT_THERE in first.err:
            raise Violation(f"the run of a dead driver was refused: {first.code} {first.err}")
        carry_on(stage, "r")
