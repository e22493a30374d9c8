"""kill -9 the moment a run has been accepted: who was told its id can rely on it."""

import os
import signal

from .bench import Violation, json_lines, rest_of
from .oracle import carry_on, check_done, check_ledgers, check_store
from .trials import Rig


class KillAfterAcceptance(Rig):
    NAME = "accept"
    COUNT = 30

    def plan(self, count, chance):
        return [(("json", "detach")[i % 2], chance.choice((0, 0, 0, 1, 2, 5)))
                for i in range(count or 500)]

    def perform(self, stage, trial, chance):
        how, delay_ms = trial
        if how == "json":
            self.watch_then_kill(stage, delay_ms)
        else:
            self.detach_then_kill(stage, delay_ms)
        listed = [run["run"] for run in stage.pawl("ls", "--json").events]
        if "r" not in listed:
            raise Violation(f"r was accepted and is not among {listed}")
        carry_on(stage, "r")
        check_done(stage, "r")
        check_ledgers(stage)
        check_store(stage)

    @staticmethod
    def wait(delay_ms):
        if delay_ms:
            signal.sigtimedwait([], delay_ms / 1000)

    def watch_then_kill(self, stage, delay_ms):
        process = stage.spawn("run", "work.yaml", "--id", "r", "--json")
        first = process.stdout.readline()
        self.wait(delay_ms)
        process.kill()
        rest, _ = rest_of(process)
        whole = first + rest
        if not first.endswith("\n"):
            raise Violation("it ended without an event")
        stage.acknowledge("r", json_lines(whole))

    def detach_then_kill(self, stage, delay_ms):
        ended = stage.pawl("run", "work.yaml", "--id", "r", "--detach")
        if ended.code != 0 or "r" not in ended.out:
            raise Violation(f"detach: {ended.code} {ended.out}{ended.err}")
        self.wait(delay_ms)
        # Locks end with the last process that holds them: a child that is not yet its command, too.
        while drivers := drivers_under(stage.directory, stage.bench.program):
            for pid in drivers:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # It was done already.
            self.wait(1)


def drivers_under(directory, program):
    """Processes of the program, whatever it is called, that work in this directory."""
    found = []
    program = os.path.realpath(program)
    for name in os.listdir("/proc"):
        try:
            here = name.isdigit() and os.readlink(f"/proc/{name}/cwd") == str(directory)
            if here and os.readlink(f"/proc/{name}/exe") == program:
                found.append(int(name))
        except OSError:
            continue  # It ended meanwhile.
    return found
