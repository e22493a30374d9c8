"""Checkpoints that were cut short, and disks that are too small: whatever SQLite survives, the
store opens, and all that was acknowledged is there."""

import subprocess

from .bench import Violation, json_lines
from .damage import DATABASE, FRAME, FRAME_HEADER, PAGE, Damage
from .mounts import mounted, need_loop_mounts
from .oracle import check_acknowledged, check_everything
from .trials import Rig, sample

SECTOR = 512


class TornCheckpoint(Damage):
    """The checkpoint writes the pages of the log into the database one after the other, and ends
    after any number of sectors; or the disk kept any of them."""
    NAME = "torn-checkpoint"
    COUNT = 12

    def pages(self):
        """What the checkpoint writes, by page: the newest frame of each."""
        newest = {}
        for frame in range(self.frames):
            at = self.offset(frame)
            number = int.from_bytes(self.log[at:at + 4], "big")
            newest[number] = self.log[at + FRAME_HEADER:at + FRAME]
        return sorted(newest.items())

    def plan(self, count, chance):
        total = len(self.pages()) * PAGE // SECTOR
        cuts = [("cut", sector) for sector in range(1, total)]
        kept = [("kept", seed) for seed in range(max(1, len(cuts) // 4))]
        return sample(chance, cuts + kept, count)

    def perform(self, stage, trial, chance):
        how, number = trial
        self.take_store(stage)
        torn = self.cut_after(number * SECTOR) if how == "cut" else self.some_kept(chance)
        (stage.data / DATABASE).write_bytes(torn)
        (stage.data / "pawl.db-shm").unlink(missing_ok=True)
        listed = self.ask(stage, "ls", "--json")
        if listed.code != 0 or listed.events != self.listed:
            raise Violation(f"pawl ls gave {listed.code}: {listed.out}{listed.err}")
        if self.check(stage, may_lose=0) != "unnoticed":
            raise Violation("a torn checkpoint was taken for damage")
        return "unnoticed"

    def written(self, database, number, page, sectors):
        at = (number - 1) * PAGE
        if len(database) < at + PAGE:
            database.extend(bytes(at + PAGE - len(database)))
        for sector in sectors:
            begin = sector * SECTOR
            database[at + begin:at + begin + SECTOR] = page[begin:begin + SECTOR]

    def cut_after(self, size):
        database = bytearray(self.database)
        for number, page in self.pages():
            part = min(size, PAGE)
            if part == 0:
                break
            at = (number - 1) * PAGE
            if len(database) < at + part:
                database.extend(bytes(at + part - len(database)))
            database[at:at + part] = page[:part]
            size -= part
        return database

    def some_kept(self, chance):
        database = bytearray(self.database)
        for number, page in self.pages():
            sectors = [i for i in range(PAGE // SECTOR) if chance.random() < 0.5]
            self.written(database, number, page, sectors)
        return database


class SmallDisk(Rig):
    """A disk that becomes full by what Pawl itself writes, at any size; then it grows."""
    NAME = "small-disk"
    COUNT = 4
    SMALLEST, LARGEST, STEP = 120, 440, 4  # KiB: a store begins at 120, and this run ends at 330
    WAITS_S = 1.0

    def prepare(self, bench):
        need_loop_mounts(bench)

    def plan(self, count, chance):
        sizes = [(size,) for size in range(self.SMALLEST, self.LARGEST, self.STEP)]
        return sample(chance, sizes, count)

    def perform(self, stage, trial, chance):
        place = stage.directory / "disk"
        with mounted("tmpfs", place, "-t", "tmpfs", "-o", f"size={trial[0]}k"):
            copied = subprocess.run(["cp", "-a", stage.data, place / "data"], check=False,
                                    stderr=subprocess.DEVNULL)
            if copied.returncode != 0:  # a part of a store is none
                return "too small"
            stage.data = place / "data"
            waited = self.run_until_full(stage)
            subprocess.run(["mount", "-o", "remount,size=16m", place], check=True)
            listed = stage.pawl("ls", "--json")
            if listed.code != 0:
                raise Violation(f"there is space again, and pawl ls gave {listed.code}: "
                                f"{listed.err}")
            check_acknowledged(stage, "r")
            if stage.acknowledged.get("r"):
                check_everything(stage)
        return "full" if waited else "enough"

    def run_until_full(self, stage):
        """What it printed is acknowledged. A driver that waits for space is killed."""
        process = stage.spawn("run", "work.yaml", "--id", "r", "--json")
        try:
            out, err = process.communicate(timeout=self.WAITS_S)
            waited = process.returncode != 0
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            waited = True
        stage.note(f"pawl run: {process.returncode} {err.strip()}")
        stage.acknowledge("r", json_lines(out))
        return waited

    def conclude(self, results):
        return f"{results.count('full')} became full", []
