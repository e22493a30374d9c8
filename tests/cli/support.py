"""A stage for tests of the program: a directory of its own, charters in it, and pawl on it."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("PAWL_SOURCE_DIR",
                                     pathlib.Path(__file__).resolve().parents[2]))
PAWL = pathlib.Path(os.environ.get("PAWL_BINARY_DIR", SOURCE / "build/dev")) / "bin/pawl"
# How much slower than usual this machine is, such as an emulator (tests/stock-kernel/run): tests
# wait longer and give calls more time. Pawl itself does not read it.
TIME_SCALE = int(os.environ.get("PAWL_TIME_SCALE", "1"))
PATIENCE_S = 30 * TIME_SCALE


class Stage(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pawl-cli-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.data = self.directory / "data"
        self.started = []
        self.addCleanup(self._end_all)

    def _end_all(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def environment(self):
        home = str(self.directory)
        return {"PATH": os.environ["PATH"], "HOME": home, "PAWL_DATA": str(self.data),
                "LC_ALL": "C.UTF-8"}

    def write(self, name, text, mode=0o644):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def charter(self, name, replies, tools="",
                more=f"limits: {{ steps: 20, time: {60 * TIME_SCALE}s }}\n"):
        """A charter `name`.yaml with its script; `tools` is the inside of tools.define."""
        define = f"tools:\n  define:\n{tools}" if tools else ""
        self.write(f"{name}.script.yaml", f"replies:\n{replies}")
        models = f"models: {{ main: scripted/{name}.script.yaml }}\n"
        self.write(f"{name}.yaml", f"name: {name}\n{models}{more}{define}instructions: Go.\n")
        return f"{name}.yaml"

    def pay(self):
        """The pair of the issue."""
        for name in ("pay.yaml", "pay.script.yaml", "charge.sh"):
            shutil.copy(SOURCE / "examples/pay" / name, self.directory / name)
        return "pay.yaml"

    def gated(self, name="gated", effect="once"):
        """A charter whose one tool notes its key, then waits until the file `gate` is there."""
        self.write("gate.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n"
                   "while [ ! -e gate ]; do sleep 0.02; done\necho opened\n", 0o755)
        return self.charter(
            name, "  - call: [{ tool: gate, input: {} }]\n  - text: Passed.\n"
            "  - text: Heard you.\n",
            f"    gate:\n      description: Waits.\n      command: [./gate.sh]\n"
            f"      effect: {effect}\n      input: {{ type: object }}\n")

    def open_gate(self):
        (self.directory / "gate").touch()

    def keys(self):
        path = self.directory / "keys"
        return path.read_text().split() if path.exists() else []

    def ledger(self):
        path = self.directory / "ledger.txt"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def pawl(self, *words, stdin=""):
        return subprocess.run([PAWL, *map(str, words)], cwd=self.directory, input=stdin,
                              capture_output=True, text=True, env=self.environment(),
                              timeout=PATIENCE_S)

    def start(self, *words, **how):
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([PAWL, *map(str, words)], cwd=self.directory, text=True,
                                   stdin=subprocess.DEVNULL, env=self.environment(), **how)
        self.started.append(process)
        return process

    def ok(self, *words, code=0, **how):
        result = self.pawl(*words, **how)
        self.assertEqual(result.returncode, code, f"{words}\n{result.stdout}\n{result.stderr}")
        return result

    def refused(self, *words, code, says):
        result = self.pawl(*words)
        self.assertEqual(result.returncode, code, f"{words}\n{result.stdout}\n{result.stderr}")
        self.assertIn(says, result.stderr)
        return result

    def end(self, process, code):
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, code, f"{out}\n{err}")
        return out, err

    def wait_for(self, condition, what="it"):
        until = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > until:
                self.fail(f"waited in vain for {what}")
            time.sleep(0.01)

    def wait_for_keys(self, count):
        self.wait_for(lambda: len(self.keys()) >= count, f"{count} keys")

    def summary(self, run):
        return json.loads(self.ok("show", run, "--json").stdout)

    def status(self, run):
        return self.summary(run)["status"]

    def events(self, run):
        return json_lines(self.ok("logs", run, "--json").stdout)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def interrupt(process, number=signal.SIGINT):
    process.send_signal(number)


def main():
    unittest.main(verbosity=2)
