"""Where trials happen: a directory for each, the workload in it, and the program on it."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[1]
PATIENCE_S = 60
STORY_BYTES_MAX = 3000


class Violation(Exception):
    """The program broke a promise."""


class Unable(Exception):
    """The machine lacks something that a rig needs."""


def need(program):
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise Unable(f"no {program}")
    return path


def json_lines(text):
    """Complete lines only: a process that dies may leave half of one."""
    whole = text[:text.rfind("\n") + 1]
    return [json.loads(line) for line in whole.splitlines()]


def rest_of(process):
    """What it still says until its end, after some of its lines were read one by one; communicate()
    would leave out what those reads had buffered."""
    out, err = process.stdout.read(), process.stderr.read()
    process.wait()
    return out, err


class Ended:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def events(self):
        return json_lines(self.out)


class Stage:
    """One trial: its directory, what was done in it, and what was acknowledged to whom."""

    def __init__(self, bench, directory):
        self.bench = bench
        self.directory = directory
        self.data = directory / "data"
        self.acknowledged = {}  # run -> {seq: [what was shown as that event]}
        self.words = []
        self.started = []
        self.kept = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        if not self.kept:
            shutil.rmtree(self.directory, ignore_errors=True)

    def keep(self):
        self.kept = self.bench.keep

    def story(self):
        text = "\n".join(self.words)[-STORY_BYTES_MAX:]
        place = f"\n  kept in {self.directory}" if self.kept else ""
        return f"\n{text}{place}"

    def note(self, text):
        self.words.append(f"  {text}")

    def environment(self, more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.directory), "LC_ALL": "C.UTF-8",
                "PAWL_DATA": str(self.data), **(more or {})}

    def spawn(self, *words, faults=None, before=(), out=subprocess.PIPE, preexec=None, group=False):
        command = [*map(str, before), str(self.bench.program), *map(str, words)]
        process = subprocess.Popen(command, cwd=self.directory, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.PIPE, text=True,
                                   errors="replace", env=self.environment(faults),
                                   preexec_fn=preexec, start_new_session=group)
        self.started.append(process)
        return process

    def end(self, process, words, run=None, patience=PATIENCE_S):
        """Waits for it; what it printed of `run` counts as acknowledged."""
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.note(f"pawl {' '.join(map(str, words))}: hung\n{err}")
            raise Violation(f"pawl {words[0]} did not end within {patience} s") from None
        ended = Ended(process.returncode, out or "", err or "")
        self.note(f"pawl {' '.join(map(str, words))}: {ended.code} {ended.err.strip()}")
        if run is not None:
            self.acknowledge(run, ended.events)
        return ended

    def pawl(self, *words, run=None, **how):
        patience = how.pop("patience", PATIENCE_S)
        return self.end(self.spawn(*words, **how), words, run, patience)

    def drive(self, word, run, *more, **how):
        """`run` or `resume` with --json; what it prints is acknowledged."""
        words = [word, "work.yaml", "--id", run] if word == "run" else [word, run]
        return self.pawl(*words, *more, "--json", run=run, **how)

    def acknowledge(self, run, events):
        known = self.acknowledged.setdefault(run, {})
        for event in events:
            if "seq" not in event:
                continue  # a preview
            forms = known.setdefault(event["seq"], [])
            if event not in forms:
                forms.append(event)

    def ledger(self, effect):
        path = self.directory / f"ledger.{effect}"
        text = path.read_text() if path.exists() else ""
        return [line.partition(" ")[::2] for line in text.splitlines()]

    def wait_for(self, condition, what):
        until = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > until:
                raise Violation(f"waited in vain for {what}")
            time.sleep(0.002)


class Bench:
    """What the trials of one rig share: shims, and a store with two runs that nobody touches."""

    def __init__(self, program, keep):
        self.program = program
        self.keep = keep
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pawl-faults-"))
        self.template = self.directory / "template"
        self.bystanders = {}  # run -> its events

    def __enter__(self):
        shutil.copytree(HERE / "workload", self.template)
        with self.stage("making", fresh=True) as stage:
            self._make_template(stage)
        return self

    def __exit__(self, *_):
        if not self.keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    def _make_template(self, stage):
        """A run that is over and one that its driver's death left in the middle."""
        ended = stage.drive("run", "over")
        if ended.code != 0:
            raise Violation(f"the workload does not even work: {ended.err}")
        process = stage.spawn("run", "gate.yaml", "--id", "torn", "--json")
        stage.wait_for(lambda: any(input == "gate" for _, input in stage.ledger("once")),
                       "the gate")
        process.kill()
        process.communicate()
        stage.pawl("verify", "--all")  # Opens the store, which writes the log back.
        for run in ("over", "torn"):
            self.bystanders[run] = stage.pawl("logs", run, "--json").events
        shutil.copytree(stage.data, self.template / "data")

    def stage(self, name, fresh=False):
        directory = self.directory / name
        shutil.copytree(HERE / "workload" if fresh else self.template, directory)
        return Stage(self, directory)

    def shim(self, name):
        """A library to preload, compiled once."""
        library = self.directory / f"{name}.so"
        if not library.exists():
            compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-19")
            if compiler is None:
                raise Unable("no C compiler")
            subprocess.run([compiler, "-O1", "-w", "-shared", "-fPIC", "-o", library,
                            HERE / "shim" / f"{name}.c"], check=True)
        return library


class Counter:
    """A file of eight bytes that a shim counts in; it survives whatever kills the process."""

    def __init__(self, stage, name="counter"):
        self.path = stage.directory / name
        self.path.write_bytes(bytes(8))

    @property
    def value(self):
        return int.from_bytes(self.path.read_bytes(), "little")


def system_calls(bench, action, **plan):
    """The environment that makes the shim do it: first, last, calls, under, error, counter."""
    environment = {"LD_PRELOAD": str(bench.shim("system_calls")), "PAWL_FAULT_ACTION": action}
    for key, value in plan.items():
        environment[f"PAWL_FAULT_{key.upper()}"] = str(value)
    return environment


def was_killed(ended):
    return ended.code == -signal.SIGKILL
