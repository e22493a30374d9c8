"""Power loss: the store is on an image, its driver is stopped at any moment, the image is copied,
and the copy is mounted, as after a power cut. A copy that is made while the driver writes is of no
one moment: its mark can be newer than its log, which no power cut leaves. The blind twin, without
syncs, must lose data or the rig shows nothing."""

import os
import shutil
import signal
import subprocess

from .bench import Violation, json_lines, rest_of, system_calls
from .mounts import loop_mounted, make_image, need_loop_mounts
from .oracle import carry_on, check_acknowledged, check_done, check_ledgers, check_store
from .trials import Rig

IMAGE_MEGABYTES = 8
CONTROL_SHARE_MIN = 0.95
EVENTS_MIN = 2
EVENTS_MAX = 12


class PowerLoss(Rig):
    NAME = "power-loss"
    COUNT = 20

    def prepare(self, bench):
        need_loop_mounts(bench)

    def plan(self, count, chance):
        """As many of each: with syncs and without."""
        return [(how, chance.randint(EVENTS_MIN, EVENTS_MAX)) for _ in range((count or 500) // 2)
                for how in ("stopped", "control")]

    def perform(self, stage, trial, chance):
        how, events = trial
        image = stage.directory / "disk.img"
        make_image(image, IMAGE_MEGABYTES)
        with loop_mounted(image, stage.directory / "disk") as disk:
            subprocess.run(["cp", "-a", stage.data, disk / "data"], check=True)
            os.sync()
            stage.data = disk / "data"
            copied = self.copy_in_flight(stage, image, how, events, chance)
            self.check_reached(events, stage)
        with loop_mounted(copied, stage.directory / "after") as after:
            stage.data = after / "data"
            if how == "control":
                return "control", self.has_lost(stage)
            check_acknowledged(stage, "r")
            check_store(stage)
            carry_on(stage, "r")
            check_done(stage, "r")
            check_ledgers(stage)
        return how, False

    @staticmethod
    def check_reached(events, stage):
        if len(stage.acknowledged.get("r", {})) < events:
            raise Violation(f"the run ended before its event {events}")

    def copy_in_flight(self, stage, image, how, events, chance):
        """Copies the image after that many events were shown."""
        faults = system_calls(stage.bench, "no-sync") if how == "control" else None
        process = stage.spawn("run", "work.yaml", "--id", "r", "--json", faults=faults)
        shown = "".join(process.stdout.readline() for _ in range(events))
        if how == "stopped":
            signal.sigtimedwait([], chance.uniform(0, 0.004))
            os.kill(process.pid, signal.SIGSTOP)
            stage.wait_for(lambda: all_stopped(process.pid), "the driver to stop")
        copied = stage.directory / "copy.img"
        stage.acknowledge("r", json_lines(shown))
        shutil.copyfile(image, copied)
        if how == "stopped":  # Every effect in the ledgers was begun before the copy was made.
            process.kill()
        rest_of(process)
        return copied

    @staticmethod
    def has_lost(stage):
        """Whether anything that was acknowledged is missing or damaged."""
        known = stage.acknowledged["r"]
        ended = stage.pawl("logs", "r", "--json")
        if ended.code != 0:
            return True
        events = ended.events
        return any(seq >= len(events) or events[seq] != forms[0] for seq, forms in known.items())

    def conclude(self, results):
        controls = [lost for how, lost in results if how == "control"]
        real = len(results) - len(controls)
        word = f"{real} with syncs: nothing lost; control without: {sum(controls)} of " \
               f"{len(controls)} lost data"
        blind = controls and sum(controls) < CONTROL_SHARE_MIN * len(controls)
        return word, ["the rig is blind: without syncs data must be lost"] if blind else []


def all_stopped(pid):
    """Or ended: it may have been faster."""
    states = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/stat", encoding="ascii") as stat:
                states.append(stat.read().rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue  # This thread has ended since.
    return all(state in "TZX" for state in states)
