"""A disk that refuses: the n-th call on a file of the store fails, once or from then on."""

import errno
import subprocess

from .bench import Counter, Ended, Unable, Violation, need, system_calls
from .oracle import check_everything
from .trials import Rig, sample

# What can fail, and how. Reading is in it because a run must not be condemned for it.
FAULTS = [("pwrite64", "EIO"), ("pwrite64", "ENOSPC"), ("pwrite64", "short"),
          ("pwrite64", "EDQUOT"), ("pwrite64", "EROFS"),
          ("fdatasync", "EIO"), ("fdatasync", "ENOSPC"), ("fsync", "EIO"), ("openat", "EIO"),
          ("openat", "EMFILE"), ("openat", "ENOSPC"), ("ftruncate", "EIO"), ("mmap", "ENOMEM"),
          ("pread64", "EIO"), ("write", "EIO")]
LASTING = ("once", "for a while", "for ever")
WHILE_CALLS = 5
HANGS_S = 1.5  # A full disk is waited for; this long is enough to see that it is.
# Done, or the store said no, or (after a wait for space) the run was parked by us.
CODES = (0, 1)


def check_end(ended):
    if ended.code < 0:
        raise Violation(f"ended by signal {-ended.code}: {ended.err}")
    if ended.code not in CODES:
        raise Violation(f"a fault of the disk gave exit code {ended.code}: {ended.err}")
    if ended.code != 0 and not ended.err.strip():
        raise Violation("it failed without a word")


def last_of(lasting, n):
    return {"once": n, "for a while": n + WHILE_CALLS - 1, "for ever": 0}[lasting]


class IoErrors(Rig):
    NAME = "io"
    COUNT = 0

    def prepare(self, bench):
        self.totals = {}
        for call in {call for call, _ in FAULTS}:
            with bench.stage("count") as stage:
                counter = Counter(stage)
                stage.drive("run", "r", faults=system_calls(
                    bench, "count", calls=call, under=stage.data, counter=counter.path))
                self.totals[call] = counter.value

    def plan(self, count, chance):
        return sample(chance, [(call, how, lasting, n, word) for call, how in FAULTS
                               for n in range(1, self.totals[call] + 1)
                               for lasting in LASTING if not (how == "short" and lasting != "once")
                               for word in ("run", "resume")], count)

    def perform(self, stage, trial, chance):
        call, how, lasting, n, word = trial
        if word == "resume":  # The fault meets the recovery from a kill.
            stage.drive("run", "r", faults=system_calls(
                stage.bench, "kill-after", calls="fdatasync", first=chance.randint(3, 12)))
        action = "short" if how == "short" else "fail"
        faults = system_calls(stage.bench, action, calls=call, under=stage.data, first=n,
                              last=last_of(lasting, n), error=getattr(errno, how, 0))
        self.drive(stage, word, faults, may_wait=how == "ENOSPC" and lasting == "for ever")
        check_everything(stage)

    @staticmethod
    def drive(stage, word, faults, may_wait):
        words = ["run", "work.yaml", "--id", "r"] if word == "run" else ["resume", "r"]
        process = stage.spawn(*words, "--json", faults=faults)
        try:
            out, err = process.communicate(timeout=HANGS_S if may_wait else None)
        except subprocess.TimeoutExpired:
            process.kill()  # It waits for space, and acknowledges nothing.
            out, err = process.communicate()
            process.returncode = 0
        ended = Ended(process.returncode, out, err)
        stage.note(f"pawl {' '.join(words)} --json: {ended.code} {ended.err.strip()}")
        stage.acknowledge("r", ended.events)
        there = "there is no run" in ended.err and word == "resume"
        if not there and ended.code != 4:
            check_end(ended)

    def conclude(self, results):
        return "calls of the store: " + ", ".join(
            f"{call} {total}" for call, total in sorted(self.totals.items())), []


class IoErrorsByStrace(Rig):
    """The same from outside the process."""
    NAME = "io-strace"
    COUNT = 20

    def prepare(self, bench):
        strace = need("strace")
        if subprocess.run([strace, "-o", "/dev/null", "true"], check=False).returncode != 0:
            raise Unable("strace may not trace here")

    def plan(self, count, chance):
        kinds = [("fdatasync", "error=EIO", n, more) for n in range(1, 18) for more in ("", "+")]
        kinds += [("pwrite64", f"error={error}", n, "") for n in range(1, 60, 3)
                  for error in ("EIO", "ENOSPC")]
        return sample(chance, kinds, count)

    def perform(self, stage, trial, chance):
        call, how, n, more = trial
        before = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                  f"inject={call}:{how}:when={n}{more}"]
        check_end(stage.drive("run", "r", before=before))
        check_everything(stage)
