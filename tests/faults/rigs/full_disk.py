"""A disk that is really full: nothing is acknowledged until there is space again."""

import os
import subprocess

from .bench import Violation, json_lines
from .mounts import loop_mounted, make_image, mounted, need_loop_mounts
from .oracle import check_acknowledged, check_everything
from .trials import Rig

IMAGE_MEGABYTES = 8
WAITS_S = 0.6


class FullDisk(Rig):
    NAME = "full-disk"
    COUNT = 4

    def prepare(self, bench):
        need_loop_mounts(bench)

    def plan(self, count, chance):
        return [(("ext4", "tmpfs")[i % 2], chance.choice((0, 4096, 20000, 40000, 70000, 120000)))
                for i in range(count or 20)]

    def perform(self, stage, trial, chance):
        kind, left = trial
        place = stage.directory / "disk"
        if kind == "ext4":
            image = stage.directory / "disk.img"
            make_image(image, IMAGE_MEGABYTES)
            disk = loop_mounted(image, place)
        else:
            disk = mounted("tmpfs", place, "-t", "tmpfs", "-o", f"size={IMAGE_MEGABYTES}m")
        with disk:
            subprocess.run(["cp", "-a", stage.data, place / "data"], check=True)
            stage.data = place / "data"
            self.fill_and_free(stage, place / "filler", left)

    def fill_and_free(self, stage, filler, left):
        """All but `left` bytes are taken; the space returns while the program waits for it."""
        stage.pawl("ls")  # The index of the log is there now.
        self.fill(filler, left)
        process = stage.spawn("run", "work.yaml", "--id", "r", "--json")
        try:
            out, err = process.communicate(timeout=WAITS_S)
            waited = False
        except subprocess.TimeoutExpired:
            filler.unlink()
            out, err = process.communicate(timeout=30)
            waited = True
        filler.unlink(missing_ok=True)
        stage.note(f"pawl run: {process.returncode} {err.strip()}, waited: {waited}")
        stage.acknowledge("r", json_lines(out))
        if process.returncode < 0:
            raise Violation(f"ended by signal {-process.returncode}: {err}")
        if waited and process.returncode != 0:
            raise Violation(f"there was space again, and it ended with {process.returncode}: {err}")
        if process.returncode not in (0, 1):
            raise Violation(f"a full disk gave exit code {process.returncode}: {err}")
        check_acknowledged(stage, "r")
        check_everything(stage)
        return waited

    @staticmethod
    def fill(path, left):
        file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        size = 0
        try:
            while True:
                size += os.write(file, bytes(4096))
        except OSError:
            os.ftruncate(file, max(0, size - left) // 4096 * 4096)
        finally:
            os.close(file)
