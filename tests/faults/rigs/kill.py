"""kill -9 at every call that changes a file, before it, after it and in the middle of it."""

import collections
import re
import subprocess

from .bench import Counter, Unable, Violation, need, system_calls, was_killed
from .oracle import check_everything
from .trials import Rig, sample

MODES = ("kill-before", "kill-after", "kill-torn")
CALLS = "write,pwrite64,writev,fsync,fdatasync,ftruncate,rename,unlink,mkdir"
CREATING = re.compile(r"^\d+ +openat\(.*O_CREAT")
CALL = re.compile(r"^(\d+) +(\w+)\(")
UNREADABLE = re.compile(r"^\d+ +write\(\d+, 0x")


def count_calls(bench, word="run", prepare=lambda stage: None):
    """How many calls an undisturbed run, or resume, makes."""
    with bench.stage("count") as stage:
        prepare(stage)
        counter = Counter(stage)
        ended = stage.drive(word, "r", faults=system_calls(bench, "count", counter=counter.path))
        if ended.code not in (0, 4):
            raise Violation(f"without any fault: {ended.code} {ended.err}")
        return counter.value


def compare_with_strace(bench):
    """(shim's count, strace's) of one and the same run: calls of pawl's threads, not of its tools.
    Two runs differ: what happens side by side is committed together or apart."""
    strace = need("strace")
    with bench.stage("strace-count") as stage:
        log = stage.directory / "log"
        counter = Counter(stage)
        shim = [f"-E{name}={value}" for name, value in
                system_calls(bench, "count", counter=counter.path).items()]
        stage.drive("run", "r", before=[strace, "-f", "-qq", "-o", log, "-e", "signal=none", "-e",
                                        f"trace={CALLS},openat,execve,clone,clone3,vfork", *shim])
        lines = log.read_text().splitlines()
        if any(UNREADABLE.match(line) for line in lines):
            raise Unable("pawl keeps its memory private, and only root's strace may read it")
        return counter.value, count_in(lines)


def count_in(lines):
    """A process that executes something else than its parent is a tool, with all it starts."""
    own = collections.Counter()
    tools = set()
    main = lines[0].split()[0]
    for line in lines:
        match = CALL.match(line)
        if not match:
            continue
        pid, name = match.groups()
        if name == "execve" and pid != main:
            tools.add(pid)
            own.pop(pid, None)
        child = re.search(r"\) += (\d+)$", line)
        if name in ("clone", "clone3", "vfork") and pid in tools and child:
            tools.add(child.group(1))
        counts = name in CALLS.split(",") or CREATING.match(line)
        if '"pawl-commit"' in line:
            continue  # The C library's own, of a thread's name.
        if counts and pid not in tools:
            own[pid] += 1
    return sum(count for pid, count in own.items() if pid not in tools)


class KillAtEveryWrite(Rig):
    NAME = "kill"
    COUNT = 0

    def prepare(self, bench):
        self.total = count_calls(bench)
        try:
            counted, seen = compare_with_strace(bench)
        except Unable as reason:
            self.compared = f"not compared with strace: {reason}"
            return
        if counted != seen:
            raise Violation(f"the shim counts {counted} calls and strace {seen} in the same run")
        self.compared = f"under strace {counted}, and strace counts {seen}"

    def plan(self, count, chance):
        return sample(chance, [(mode, n) for n in range(1, self.total + 1) for mode in MODES],
                      count)

    def perform(self, stage, trial, chance):
        mode, n = trial
        faults = system_calls(stage.bench, mode, first=n, last=n)
        killed = was_killed(stage.drive("run", "r", faults=faults))
        check_everything(stage)
        return killed

    def conclude(self, results):
        word = f"N = {self.total} calls ({self.compared}), {sum(results)} killed"
        return word, [] if not results or any(results) else ["nothing was ever killed"]


class KillInRecovery(Rig):
    """A kill, a kill of the recovery, and then a start that nothing disturbs."""
    NAME = "kill-twice"
    COUNT = 60

    def prepare(self, bench):
        self.total = count_calls(bench)

    def plan(self, count, chance):
        pairs = [(m, n) for m in range(1, self.total + 1) for n in range(1, 61)]
        return sample(chance, pairs, count)

    def perform(self, stage, trial, chance):
        killed = 0
        for word, n in zip(("run", "resume"), trial):
            faults = system_calls(stage.bench, chance.choice(MODES), first=n, last=n)
            killed += was_killed(stage.drive(word, "r", faults=faults))
        check_everything(stage)
        return killed

    def conclude(self, results):
        return f"{sum(results)} kills", []


class KillByStrace(Rig):
    """The same from outside the process: strace counts for each thread by itself."""
    NAME = "kill-strace"
    COUNT = 20

    def prepare(self, bench):
        strace = need("strace")
        if subprocess.run([strace, "-o", "/dev/null", "true"], check=False).returncode != 0:
            raise Unable("strace may not trace here")

    def plan(self, count, chance):
        return sample(chance, [(call, n) for call in CALLS.split(",")[:2] + ["fdatasync"]
                               for n in range(1, 25)], count)

    def perform(self, stage, trial, chance):
        call, n = trial
        inject = f"inject={call}:signal=SIGKILL:when={n}"
        ended = stage.drive("run", "r", before=["strace", "-f", "-qq", "-o", "/dev/null", "-e",
                                                f"trace={call}", "-e", inject])
        check_everything(stage)
        return ended.code != 0

    def conclude(self, results):
        return f"{sum(results)} killed", []
