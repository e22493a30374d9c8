#!/usr/bin/env python3
"""What tests/mutants/run leaves behind: whoever ends it, the source is as it was."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run"
SOURCE = "int one() { return 1; }\n"
LIST = "mutant two\nfile src/one.cc\ntest kernel\\.one\n-return 1;\n+return 2;\n"
WAIT_SECONDS_MAX = 60
# In place of cmake: says who it is, and then takes for ever.
BUILDER = "#!/bin/sh\necho $$ > started.new && mv started.new started && exec sleep 600\n"


def wait_for(condition):
    until = time.monotonic() + WAIT_SECONDS_MAX
    while not condition():
        if time.monotonic() > until:
            raise AssertionError("waited too long")
        time.sleep(0.01)


class RunTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("tests/mutants", "src", "bin"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(RUN, self.root / "tests/mutants/run")
        (self.root / "tests/mutants/mutants.txt").write_text(LIST)
        self.source = self.root / "src/one.cc"
        self.source.write_text(SOURCE)
        builder = self.root / "bin/cmake"
        builder.write_text(BUILDER)
        builder.chmod(0o755)

    def start(self, *arguments):
        path = f"{self.root}/bin:{os.environ['PATH']}"
        command = [sys.executable, "-B", str(self.root / "tests/mutants/run"), *arguments]
        return subprocess.Popen(command, env={**os.environ, "PATH": path}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def works_here(self, number):
        """Not only whether there is such a process: on a busy machine its number is soon
        another's."""
        try:
            return os.readlink(f"/proc/{number}/cwd") == str(self.root)
        except OSError:
            return False

    def test_a_signal_puts_the_source_back_and_ends_the_build(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number.name):
                started = self.root / "started"
                started.unlink(missing_ok=True)
                with self.start() as process:
                    wait_for(started.exists)
                    self.assertIn("return 2;", self.source.read_text())
                    process.send_signal(number)
                    process.communicate(timeout=WAIT_SECONDS_MAX)
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual(self.source.read_text(), SOURCE)
                wait_for(lambda: not self.works_here(started.read_text().strip()))

    def test_a_mutant_that_does_not_fit_is_named(self):
        with self.start("--fits") as process:
            self.assertIn("1 mutants, 0 do not fit", process.communicate()[0])
        self.assertEqual(process.returncode, 0)
        for changed in ("int one() { return 3; }\n", SOURCE * 2):
            self.source.write_text(changed)
            with self.start("--fits") as process:
                self.assertIn("two: does not fit src/one.cc", process.communicate()[0])
            self.assertEqual(process.returncode, 1)
        self.source.unlink()
        with self.start("--fits") as process:
            self.assertIn("two: does not fit: there is no src/one.cc", process.communicate()[0])
        self.assertEqual(process.returncode, 1)


if __name__ == "__main__":
    unittest.main()
