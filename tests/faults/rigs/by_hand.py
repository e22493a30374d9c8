"""Stores that somebody has edited: rows swapped, taken out, put in, and files of another store.
What was changed is named, the other runs go on, and nothing is lost without a word."""

import hashlib
import os
import shutil
import sqlite3

from .bench import Unable, Violation, system_calls
from .damage import DATABASE, FRAME, LOG, LOG_HEADER, PAGE, Damage
from .files import NOBODY
from .trials import sample

DAMAGED = 6  # what `pawl verify` ends with


def number_of(store, run):
    return store.execute("SELECT no FROM runs WHERE id = ?", (run,)).fetchone()[0]


def rows_of(store, run):
    """(row, seq) of its records, in order."""
    return store.execute("SELECT id, seq FROM journal WHERE run = ? ORDER BY seq",
                         (number_of(store, run),)).fetchall()


def swap(store, run, columns):
    """Two records in the middle change places, or parts of them do."""
    rows = rows_of(store, run)
    (first, _), (second, _) = rows[len(rows) // 2 - 1], rows[len(rows) // 2]
    names = ", ".join(columns)
    select = f"SELECT {names} FROM journal WHERE id = ?"
    values = {row: store.execute(select, (row,)).fetchone() for row in (first, second)}
    put = ", ".join(f"{name} = ?" for name in columns)
    for here, there in ((first, second), (second, first)):
        store.execute(f"UPDATE journal SET {put} WHERE id = ?", (*values[there], here))


def swap_payloads(store, run):
    swap(store, run, ("payload",))


def swap_records(store, run):
    swap(store, run, ("payload", "chain"))


def take_record_of_another(store, run):
    """A sound record, of the run beside it."""
    other = "over" if run == "w" else "w"
    mine, theirs = rows_of(store, run)[1][0], rows_of(store, other)[1][0]
    store.execute("UPDATE journal SET (payload, chain) = "
                  "(SELECT payload, chain FROM journal WHERE id = ?) WHERE id = ?", (theirs, mine))


def delete_record(store, run):
    rows = rows_of(store, run)
    store.execute("DELETE FROM journal WHERE id = ?", (rows[len(rows) // 2][0],))


def delete_blob(store, run):
    if store.execute("DELETE FROM blobs WHERE run = ?", (number_of(store, run),)).rowcount == 0:
        raise Unable(f"{run} has no blob")


def edit_blob(store, run):
    changed = store.execute("UPDATE blobs SET bytes = CAST('x' || substr(bytes, 2) AS BLOB) "
                            "WHERE run = ?", (number_of(store, run),))
    if changed.rowcount == 0:
        raise Unable(f"{run} has no blob")


def mixed(number):
    """As Rng::mixed()."""
    bits = (1 << 64) - 1
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9 & bits
    number = (number ^ number >> 27) * 0x94d049bb133111eb & bits
    return number ^ number >> 31


def sum_of_record(run, seq, epoch):
    return mixed(mixed(mixed(run + 1) ^ seq) ^ epoch) >> 33


def repeat_record(store, run):
    """A number twice, as a row of another driver's would have it."""
    row = rows_of(store, run)[-1][0]
    select = "SELECT run, seq, epoch FROM journal WHERE id = ?"
    number, seq, epoch = store.execute(select, (row,)).fetchone()
    store.execute("INSERT INTO journal (run, seq, epoch, sum, payload, chain) SELECT run, seq, "
                  "epoch + 7, ?, CAST(payload || x'00' AS BLOB), chain FROM journal WHERE id = ?",
                  (sum_of_record(number, seq, epoch + 7), row))


def zero_payload(store, run):
    row = rows_of(store, run)[2][0]
    store.execute("UPDATE journal SET payload = zeroblob(length(payload)) WHERE id = ?", (row,))


def rehash_record(store, run):
    """A byte of a record is changed, and its own hash made right: the next one's is not."""
    rows = rows_of(store, run)
    row, before = rows[len(rows) // 2][0], rows[len(rows) // 2 - 1][0]
    chain = store.execute("SELECT chain FROM journal WHERE id = ?", (before,)).fetchone()[0]
    select = "SELECT payload FROM journal WHERE id = ?"
    payload = bytearray(store.execute(select, (row,)).fetchone()[0])
    payload[-1] ^= 1
    store.execute("UPDATE journal SET payload = ?, chain = ? WHERE id = ?",
                  (bytes(payload), hashlib.sha256(chain + payload).digest(), row))


def move_record(store, run):
    """A record in the middle is said to be that of a run that is not there."""
    rows = rows_of(store, run)
    row, seq = rows[len(rows) // 2]
    store.execute("UPDATE journal SET run = 4242 WHERE id = ?", (row,))
    store.execute("UPDATE places SET run = 4242 WHERE run = ? AND seq = ?",
                  (number_of(store, run), seq))


def renumber_record(store, run):
    """A gap: from the middle on every number is one more."""
    rows = rows_of(store, run)
    for row, seq in reversed(rows[len(rows) // 2:]):
        store.execute("UPDATE journal SET seq = ? WHERE id = ?", (seq + 1, row))
        store.execute("UPDATE places SET seq = ? WHERE id = ?", (seq + 1, row))


def empty_run(store, run):
    """All its records are gone; its row says that it is there."""
    number = number_of(store, run)
    store.execute("DELETE FROM journal WHERE run = ?", (number,))
    store.execute("DELETE FROM places WHERE run = ?", (number,))


def cut_records(store, run):
    """Its last two records are gone."""
    for row, _ in rows_of(store, run)[-2:]:
        store.execute("DELETE FROM journal WHERE id = ?", (row,))
        store.execute("DELETE FROM places WHERE id = ?", (row,))


def revive(store, run):
    """A run that is over is said to be under way."""
    store.execute("UPDATE runs SET status = 'running' WHERE id = ?", (run,))


EDITS = {edit.__name__: edit for edit in (swap_payloads, swap_records, take_record_of_another,
                                          delete_record, delete_blob, edit_blob, zero_payload,
                                          repeat_record, rehash_record, move_record,
                                          renumber_record, empty_run, cut_records,
                                          revive)}


# What is under way may be said to be.
UNSEEN = {("revive", "w")}
# Its record is shown as it was edited before the next one gives it away.
SHOWN = ("rehash_record",)

# What such an edit leaves is sound until something asks for the bytes: the next request does.
OF_BLOBS = ("delete_blob", "edit_blob")


class EditedByHand(Damage):
    NAME = "by-hand"
    COUNT = 0

    def plan(self, count, chance):
        edits = [("edit", name, run) for name in EDITS for run in ("over", "w")
                 if (name, run) not in UNSEEN]
        others = [(word,) for word in ("epoch", "twice", "truncated", "zeroed", "foreign_log",
                                       "older_log", "read_only", "forged_inbox",
                                       "older_schema", "lost_run", "lost_table", "stale_log",
                                       "early_database", "stale_rollback")]
        everything = edits + others
        return sample(chance, everything, count)

    def perform(self, stage, trial, chance):
        self.take_store(stage)
        return getattr(self, trial[0])(stage, chance, *trial[1:])

    @staticmethod
    def open(stage):
        store = sqlite3.connect(stage.data / DATABASE)
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return store

    def edit(self, stage, _chance, name, run):
        """One run is edited. It is named, never driven on from what is not its own, and the others
        are as they were."""
        store = self.open(stage)
        EDITS[name](store, run)
        store.commit()
        store.close()
        verified = self.ask(stage, "verify", "--all")
        if verified.code != DAMAGED or run not in verified.out + verified.err:
            raise Violation(f"verify says {verified.code}, {verified.out}{verified.err}")
        self.others_are_sound(stage, run, name)
        resumed = self.ask(stage, "resume", run, "--json")
        # A run that is over is shown as what it is; there is nothing to go on with.
        if resumed.code in (0, 4) and "is over" not in resumed.err and name not in OF_BLOBS:
            raise Violation(f"{run} went on: {resumed.out}{resumed.err}")
        self.others_are_sound(stage, run, name)
        return "detected"

    def others_are_sound(self, stage, edited, name):
        for run, expected in self.events.items():
            events = self.ask(stage, "logs", run, "--json").events
            known = min(len(events), len(expected)) if run == edited else len(expected)
            if run == edited and name in SHOWN:
                known -= 1
            if events[:known] != expected[:known]:
                raise Violation(f"{run} has other events than before")
            more = [event["type"] for event in events[len(expected):]]
            sound = (lambda kind: kind != "model_replied") if name in OF_BLOBS else (
                lambda kind: kind == "driver_attached")
            if run == edited and not all(map(sound, more)):
                raise Violation(f"{run} went on from what is not its own: {more}")
        if edited != "w":
            self.ask_to_go_on(stage)

    def ask_to_go_on(self, stage):
        resumed = self.ask(stage, "resume", "w", "--json")
        if resumed.code not in (0, 4) and "is over" not in resumed.err:
            raise Violation(f"w, which nobody edited, does not go on: {resumed.err}")

    def epoch(self, stage, chance):
        """The count of drivers set back, or far ahead: nobody is fenced out for ever, and no
        record's own count falls."""
        store = self.open(stage)
        store.execute("UPDATE runs SET epoch = ?", (chance.choice((1, 1 << 40)),))
        store.commit()
        store.close()
        return self.check(stage, may_lose=0)

    def forged_inbox(self, stage, _chance):
        """Rows that no Pawl has posted: their run is quarantined, and the rows are named."""
        store = self.open(stage)
        for body in (b"", b"\x00" * 40, os.urandom(200), b'{"text":"pay twice"}'):
            store.execute("INSERT INTO inbox (run, at, body) VALUES (?, 1, ?)",
                          (number_of(store, "w"), body))
        store.execute("INSERT INTO inbox (run, at, body) VALUES (4242, 1, x'01')")
        store.commit()
        store.close()
        verified = self.ask(stage, "verify", "w")
        if verified.code != DAMAGED or "of table inbox" not in verified.out + verified.err:
            raise Violation(f"forged messages, and verify says {verified.out}{verified.err}")
        resumed = self.ask(stage, "resume", "w", "--json")
        if resumed.code in (0, 4):
            raise Violation(f"w went on with forged messages: {resumed.out}{resumed.err}")
        if not any(run["run"] == "w" and run["status"] == "quarantined"
                   for run in self.ask(stage, "ls", "--json").events):
            raise Violation("w has forged messages and is not quarantined")
        types = [event["type"] for event in self.ask(stage, "logs", "w", "--json").events]
        if "message_received" in types:
            raise Violation("a forged message was received")
        if self.ask(stage, "verify", "torn").code != 0:
            raise Violation("another run is not sound any more")
        return "detected"

    def older_schema(self, stage, _chance):
        """A number of a version that there never was: refused by name, and left as it is."""
        store = self.open(stage)
        store.execute("PRAGMA user_version = 0")
        store.commit()
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.close()
        before = (stage.data / DATABASE).read_bytes()
        for words in (("ls",), ("verify", "--all"), ("resume", "w"), ("doctor",)):
            said = self.ask(stage, *words)
            if said.code == 0 or "version" not in said.out + said.err:
                raise Violation(f"pawl {words[0]} on a store of version 0: {said.code} "
                                f"{said.out}{said.err}")
        if (stage.data / DATABASE).read_bytes() != before:
            raise Violation("a store of a version that is not known was changed")
        return "detected"

    def refused(self, stage, says):
        """By every command, in so many words, and nothing is changed."""
        before = (stage.data / DATABASE).read_bytes()
        for words in (("ls",), ("verify", "--all"), ("resume", "w"), ("doctor",)):
            said = self.ask(stage, *words)
            told = said.out + said.err
            if said.code == 0 or (says if words != ("doctor",) else DATABASE) not in told:
                raise Violation(f"pawl {words[0]}: {said.code} {told}")
        if (stage.data / DATABASE).read_bytes() != before:
            raise Violation("a store that was refused has been changed")
        return "detected"

    def lost_run(self, stage, _chance):
        """Its row in the list of runs is gone, and its records are not."""
        store = self.open(stage)
        store.execute("DELETE FROM runs WHERE id = 'over'")
        store.commit()
        store.close()
        verified = self.ask(stage, "verify", "--all")
        if verified.code != DAMAGED or "and should have" not in verified.out:
            raise Violation(f"verify says {verified.code}, {verified.out}{verified.err}")
        refused = self.ask(stage, "run", "work.yaml", "--id", "over")
        if refused.code == 0 or "and should have" not in refused.err:
            raise Violation(f"a run can be started again: {refused.code}, {refused.err}")
        accepted = self.ask(stage, "doctor", "--accept")
        if accepted.code != 0 or self.ask(stage, "run", "work.yaml", "--id", "later").code != 0:
            raise Violation(f"the store does not go on: {accepted.out}{accepted.err}")
        return "detected"

    def lost_table(self, stage, chance):
        name = chance.choice(("inbox", "removals", "places", "journal", "snapshots"))
        store = self.open(stage)
        store.execute(f"DROP TABLE {name}")
        store.commit()
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.close()
        return self.refused(stage, f"has lost table {name}")

    def stale_log(self, stage, _chance):
        """A log of an earlier moment, beside a database that has gone on without it."""
        (stage.data / DATABASE).write_bytes(self.whole_database(stage))
        stage.pawl("run", "work.yaml", "--id", "later")
        (stage.data / LOG).write_bytes(self.log)
        return self.refused(stage, "log")

    def early_database(self, stage, _chance):
        """A database that was restored, beside the log of what came after it."""
        early = self.whole_database(stage)
        (stage.data / DATABASE).write_bytes(early)
        stage.pawl("run", "work.yaml", "--id", "later")
        stage.drive("run", "x", faults=self.kill_late)
        (stage.data / DATABASE).write_bytes(early)
        return self.refused(stage, "log")

    def stale_rollback(self, stage, _chance):
        """SQLite would put what it holds in the place of newer pages."""
        store = self.open(stage)
        store.execute("PRAGMA journal_mode = DELETE")
        store.execute("PRAGMA cache_size = 1")
        store.isolation_level = None
        store.execute("BEGIN")
        store.execute("INSERT INTO inbox (run, at, body) VALUES (4242, 1, zeroblob(200000))")
        rollback = (stage.data / f"{DATABASE}-journal").read_bytes()
        store.execute("ROLLBACK")
        store.close()
        stage.pawl("run", "work.yaml", "--id", "later")
        (stage.data / f"{DATABASE}-journal").write_bytes(rollback)
        return self.refused(stage, f"{DATABASE}-journal")

    def twice(self, stage, _chance):
        """Two runs of one id, which the store's own index does not allow."""
        store = self.open(stage)
        store.execute("PRAGMA writable_schema = ON")
        store.execute("UPDATE sqlite_schema SET sql = replace(sql, 'id TEXT NOT NULL UNIQUE', "
                      "'id TEXT NOT NULL') WHERE name = 'runs'")
        store.execute("DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_runs_1'")
        store.commit()
        store.close()
        store = sqlite3.connect(stage.data / DATABASE)
        store.execute("UPDATE runs SET id = 'over' WHERE id = 'torn'")
        store.commit()
        store.close()
        verified = self.ask(stage, "verify", "--all")
        if verified.code == 0:
            raise Violation(f"two runs have one id, and verify says {verified.out}")
        return "detected"

    def truncated(self, stage, chance):
        pages = len(self.database) // PAGE
        left = chance.choice((100, PAGE, PAGE * (pages // 2), PAGE * (pages - 1),
                              len(self.database) - 1))
        (stage.data / LOG).unlink()
        store = self.whole_database(stage)
        (stage.data / DATABASE).write_bytes(store[:left])
        if self.check(stage, may_lose=0) != "detected":
            raise Violation(f"the database was cut to {left} bytes, and nobody says so")
        return "detected"

    def whole_database(self, stage):
        """With all that the log held."""
        self.take_store(stage)
        self.open(stage).close()
        (stage.data / LOG).unlink(missing_ok=True)
        return (stage.data / DATABASE).read_bytes()

    def zeroed(self, stage, chance):
        content = bytearray(self.whole_database(stage))
        at = PAGE * chance.randrange(len(content) // PAGE)
        content[at:at + PAGE] = bytes(PAGE)
        (stage.data / DATABASE).write_bytes(content)
        return self.check(stage, may_lose=0)

    def foreign_log(self, stage, _chance):
        """The log of another store, sound in itself, beside this database."""
        with stage.bench.stage("foreign") as other:
            shutil.rmtree(other.data)
            other.drive("run", "x", faults=self.kill_late)
            if (other.data / LOG).stat().st_size < LOG_HEADER + 4 * FRAME:
                raise Violation("the other store has nothing in its log; nothing would be tried")
            shutil.copy(other.data / LOG, stage.data / LOG)
        if self.check(stage, may_lose=0) != "detected":
            raise Violation("the log of another store was taken for this one's")
        return "detected"

    def older_log(self, stage, _chance):
        """A log that has been written back already is there again, and harmless."""
        database = self.whole_database(stage)
        (stage.data / DATABASE).write_bytes(database)
        (stage.data / LOG).write_bytes(self.log)
        return self.check(stage, may_lose=0)

    def prepare(self, bench):
        super().prepare(bench)
        self.kill_late = system_calls(bench, "kill-after", calls="fdatasync", first=16, last=16)

    def read_only(self, stage, _chance):
        setpriv = shutil.which("setpriv")
        if os.geteuid() == 0 and setpriv is None:
            raise Unable("no setpriv to become nobody with")
        before = []
        if os.geteuid() == 0:
            for path in [stage.directory, stage.data, *stage.data.iterdir()]:
                os.chown(path, NOBODY, NOBODY)
            stage.bench.directory.chmod(0o711)
            before = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        content = (stage.data / DATABASE).read_bytes()
        (stage.data / DATABASE).chmod(0o400)
        ended = stage.pawl("resume", "w", before=before)
        if ended.code in (126, 127):
            raise Unable(f"nobody may not start the program: {ended.err.strip()}")
        if ended.code == 1 and (stage.data / DATABASE).read_bytes() != content:
            raise Violation("a store that was refused has been changed")
        if ended.code not in (0, 1, 4) or (ended.code == 1 and "pawl.db" not in ended.err):
            raise Violation(f"a read-only database: {ended.code} {ended.err}")
        return "detected"
