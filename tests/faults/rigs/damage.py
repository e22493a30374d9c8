"""Damage to the files of the store: flipped bits, lost and misplaced pages, a log that is cut."""

import shutil

from .bench import Violation, system_calls
from .trials import Rig, sample

DATABASE, LOG, MARK = "pawl.db", "pawl.db-wal", "pawl.mark"
PAGE = 8192
LOG_HEADER, FRAME_HEADER = 32, 24
FRAME = FRAME_HEADER + PAGE
CODES = (0, 1, 3, 4, 5, 6)


class Damage(Rig):
    """A store with two runs in the database and one in a log that was never written back."""

    def prepare(self, bench):
        self.whole = bench.directory / "whole"
        stage = bench.stage("home")  # It stays: the charter's directory is pinned in the run.
        stage.drive("run", "w", faults=system_calls(bench, "kill-after", calls="fdatasync",
                                                    first=11, last=11))
        shutil.copytree(stage.data, self.whole)
        with bench.stage("reference") as stage:
            self.take_store(stage)
            listed = stage.pawl("ls", "--json")
            self.listed = listed.events
            self.events = {run["run"]: stage.pawl("logs", run["run"], "--json").events
                           for run in self.listed}
        if sorted(self.events) != ["over", "torn", "w"] or len(self.events["w"]) < 5:
            raise Violation(f"the store to damage is not as it should be: {listed.out}")
        self.database = (self.whole / DATABASE).read_bytes()
        self.log = (self.whole / LOG).read_bytes()
        self.mark = (self.whole / MARK).read_bytes()
        self.frames = self.count_frames()
        ends = [i + 1 for i in range(self.frames) if self.commits(i)]
        self.known = {end: self.count_known(bench, end) for end in [0] + ends}
        # Where the newest commit begins: a torn end looks the same.
        self.last_commit = self.offset(ends[-2] if len(ends) > 1 else 0)

    @staticmethod
    def offset(frame):
        return LOG_HEADER + frame * FRAME

    def count_frames(self):
        """Of this log: behind them there may be some of an earlier one, with other salts."""
        salts = self.log[16:24]
        total = (len(self.log) - LOG_HEADER) // FRAME
        return next((i for i in range(total)
                     if self.log[self.offset(i) + 8:self.offset(i) + 16] != salts), total)

    def commits(self, frame):
        at = self.offset(frame)
        return self.log[at + 4:at + 8] != bytes(4)

    def count_known(self, bench, end):
        """How many events of w there are with this much of the log. A commit may hold several."""
        with bench.stage("known") as stage:
            self.take_store(stage)
            (stage.data / LOG).write_bytes(self.log[:self.offset(end)])
            return len(stage.pawl("logs", "w", "--json").events)

    def lost_after(self, frame):
        """How many events of w go with this frame and all behind it."""
        kept = max(end for end in self.known if end <= frame)
        return len(self.events["w"]) - self.known[kept]

    def take_store(self, stage):
        shutil.rmtree(stage.data, ignore_errors=True)
        shutil.copytree(self.whole, stage.data)

    def check(self, stage, may_lose):
        """Detected, or without consequence. What it was."""
        found = {"refused": 0, "differs": 0}
        verified = self.ask(stage, "verify", "--all")
        opened = verified.code in (0, 6)
        clean = verified.code == 0
        for run, expected in self.events.items():
            self.check_history(stage, run, expected, clean, may_lose, found)
        if opened:
            self.check_listing(stage, clean, may_lose)
        resumed = self.ask(stage, "resume", "w", "--json")
        after = self.ask(stage, "logs", "w", "--json")
        if resumed.code in (0, 4) and not may_lose:
            self.check_prefix(after, self.events["w"])
        return "unnoticed" if clean and not found["refused"] else "detected"

    def ask(self, stage, *words):
        ended = stage.pawl(*words)
        if ended.code < 0:
            raise Violation(f"pawl {words[0]} ended by signal {-ended.code}: {ended.err[-800:]}")
        if ended.code not in CODES:
            raise Violation(f"pawl {words[0]} gave {ended.code}: {ended.err[-800:]}")
        if ended.code in (1, 6) and not (ended.err + ended.out).strip():
            raise Violation(f"pawl {words[0]} failed without a word")
        return ended

    def check_history(self, stage, run, expected, clean, may_lose, found):
        ended = self.ask(stage, "logs", run, "--json")
        events = ended.events
        if ended.code != 0:
            found["refused"] += 1
            if clean:
                raise Violation(f"verify found nothing, and the events of {run} cannot be read: "
                                f"{ended.err}")
            expected = expected[:len(events)]  # Those before the damage may be shown.
        shorter = run == "w" and events == expected[:len(events)] and \
            len(expected) - len(events) <= may_lose
        if events != expected and not shorter:
            raise Violation(f"{run} has {len(events)} events instead of {len(expected)}, and "
                            f"nobody says so; verify {'did not' if clean else 'did'} find damage")

    def check_listing(self, stage, clean, may_lose):
        listed = self.ask(stage, "ls", "--json")
        if listed.code != 0 or not clean or may_lose:
            return
        if listed.events != self.listed:
            raise Violation(f"verify found nothing, and the runs are listed as {listed.out}")

    @staticmethod
    def check_prefix(ended, expected):
        events = ended.events
        if ended.code != 0 or events[:len(expected)] != expected:
            raise Violation(f"the run went on from a history that is not its own "
                            f"({len(events)} events, {len(expected)} before)")

    def conclude(self, results):
        return f"{results.count('detected')} detected, {results.count('unnoticed')} without " \
               f"consequence", []


class FlippedBits(Damage):
    NAME = "flips"
    COUNT = 60

    def plan(self, count, chance):
        """Where there is something: most bytes of a page are empty."""
        return [self.flip(chance) for _ in range(count or 2000)]

    def flip(self, chance):
        name, content = chance.choice(((DATABASE, self.database), (LOG, self.log)) * 8 +
                                      ((MARK, self.mark),))
        while True:
            at = chance.randrange(len(content))
            if content[max(0, at - 4):at + 4] != bytes(8) or chance.random() < 0.02:
                return name, at, chance.randrange(8)

    def perform(self, stage, trial, chance):
        name, at, bit = trial
        self.take_store(stage)
        content = bytearray({DATABASE: self.database, LOG: self.log, MARK: self.mark}[name])
        content[at] ^= 1 << bit
        (stage.data / name).write_bytes(content)
        last = name == LOG and at >= self.last_commit
        return self.check(stage, may_lose=self.lost_after(self.frames - 1) if last else 0)


class DamagedPages(Damage):
    """Pages that were lost, or written to another's place."""
    NAME = "pages"
    COUNT = 30

    def plan(self, count, chance):
        pages = len(self.database) // PAGE
        frames = (len(self.log) - LOG_HEADER) // FRAME
        everything = [(name, how, a) for name, total in ((DATABASE, pages), (LOG, frames))
                      for how in ("zeroed", "swapped", "copied") for a in range(total)]
        return sample(chance, everything, count)

    def perform(self, stage, trial, chance):
        name, how, a = trial
        size, start = (PAGE, 0) if name == DATABASE else (FRAME, LOG_HEADER)
        content = bytearray(self.database if name == DATABASE else self.log)
        b = chance.randrange((len(content) - start) // size)
        first, second = (slice(start + i * size, start + (i + 1) * size) for i in (a, b))
        here, there = bytes(content[first]), bytes(content[second])
        if how == "zeroed":
            content[first] = bytes(size)
        else:
            content[first] = there
            content[second] = here if how == "swapped" else there
        self.take_store(stage)
        (stage.data / name).write_bytes(content)
        damaged = {a, b} if how == "swapped" else {a}
        return self.check(stage, may_lose=self.may_lose(damaged) if name == LOG else 0)

    def may_lose(self, damaged):
        """How many events may go unnoticed. A whole commit with the next one's first frame behind
        it proves that there was more; without that, the rest looks like a last commit that was
        torn. See docs/journal-sqlite.md."""
        first = min(damaged)
        commits = [i for i in range(first, self.frames) if self.commits(i)]
        proven = any(i + 1 < self.frames and not {i, i + 1} & damaged for i in commits)
        return 0 if proven or first >= self.frames else self.lost_after(first)


class CutLog(Damage):
    """A log that ends anywhere in its last commit: that commit is gone, and nothing else."""
    NAME = "cut-log"
    COUNT = 20

    def plan(self, count, chance):
        ends = range(self.last_commit, self.offset(self.frames))
        return sample(chance, [(end,) for end in ends], count or 2000)

    def perform(self, stage, trial, chance):
        self.take_store(stage)
        (stage.data / LOG).write_bytes(self.log[:trial[0]])
        verified = self.ask(stage, "verify", "--all")
        if verified.code != 0:
            raise Violation(f"a torn end was taken for damage: {verified.out}{verified.err}")
        self.check(stage, may_lose=self.lost_after(self.frames - 1))
        return "detected"
