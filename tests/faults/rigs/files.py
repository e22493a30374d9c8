"""Directories that are not as they should be: leftovers, newer formats, no permission."""

import os
import shutil
import sqlite3

from .bench import Unable, Violation
from .oracle import check_everything
from .trials import Rig

NOBODY = 65534


def refused(stage, ended, says):
    if ended.code != 1 or says not in ended.err:
        raise Violation(f"expected a refusal that says {says!r}: {ended.code} {ended.err}")


def contents(directory):
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes())
            for path in directory.iterdir() if path.is_file()}


class OddDirectories(Rig):
    NAME = "directories"
    COUNT = 0

    def plan(self, count, chance):
        return [("leftovers",), ("newer",), ("foreign",), ("unwritable",), ("stale lock",),
                ("log without database",), ("emptied",), ("pipe",)]

    def perform(self, stage, trial, chance):
        getattr(self, trial[0].replace(" ", "_"))(stage)

    def leftovers(self, stage):
        """Files of an interrupted copy or compaction are in nobody's way."""
        for name in ("pawl.db.tmp", "pawl.db-journal.tmp", "x.tmp", "pawl.db-wal.1"):
            (stage.data / name).write_bytes(os.urandom(1 << 16))
        stage.drive("run", "r")
        check_everything(stage)

    def newer(self, stage):
        stage.pawl("ls")
        store = sqlite3.connect(stage.data / "pawl.db")
        store.execute("PRAGMA user_version = 1000")
        store.commit()
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.close()
        self.unchanged(stage, "newer")

    def foreign(self, stage):
        """Another program's database is refused too."""
        shutil.rmtree(stage.data)
        stage.data.mkdir(mode=0o700)
        store = sqlite3.connect(stage.data / "pawl.db")
        store.execute("CREATE TABLE theirs (a)")
        store.commit()
        store.close()
        self.unchanged(stage, "pawl.db")

    @staticmethod
    def unchanged(stage, says):
        (stage.data / "pawl.lock").unlink(missing_ok=True)
        before = contents(stage.data)
        for words in (("ls",), ("resume", "torn"), ("run", "work.yaml", "--id", "r")):
            refused(stage, stage.pawl(*words), says)
        if contents(stage.data) != before:
            raise Violation("a store that was refused has been changed")

    def unwritable(self, stage):
        """Nothing is kept in memory instead."""
        if os.geteuid() != 0:
            stage.data.chmod(0o500)
            return refused(stage, stage.pawl("run", "work.yaml", "--id", "r"), "data")
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise Unable("no setpriv to become nobody with")
        for path in [stage.directory, stage.data, *stage.data.iterdir()]:
            os.chown(path, NOBODY, NOBODY)
        stage.data.chmod(0o500)
        stage.bench.directory.chmod(0o711)
        before = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        ended = stage.pawl("run", "work.yaml", "--id", "r", before=before)
        if ended.code in (126, 127):
            raise Unable(f"nobody may not start the program: {ended.err.strip()}")
        refused(stage, ended, "data")

    def stale_lock(self, stage):
        """The lock is the kernel's: what stands in the file means nothing."""
        (stage.data / "pawl.lock").write_text(f"{os.getpid()}\n")
        stage.drive("run", "r")
        check_everything(stage)

    def log_without_database(self, stage):
        shutil.copy(stage.data / "pawl.db", stage.data / "pawl.db-wal")
        (stage.data / "pawl.db").unlink()
        self.unchanged(stage, "pawl.db")

    def emptied(self, stage):
        """Not taken for a new store: there was one."""
        (stage.data / "pawl.db").write_bytes(b"")
        self.unchanged(stage, "pawl.db")

    def pipe(self, stage):
        """Nobody waits for what is no file."""
        (stage.data / "pawl.db-wal").unlink()
        os.mkfifo(stage.data / "pawl.db-wal", 0o600)
        self.unchanged(stage, "pawl.db-wal")
