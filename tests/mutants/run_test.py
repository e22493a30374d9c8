#!/usr/bin/env python3
"""The mutation operators; and whoever ends tests/mutants/run, the source is as it was."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import operators  # noqa: E402  (beside this file)

SOURCE = "bool one(int a, int b) {\n  return a == b;\n}\n"
MUTANT = SOURCE.replace("==", "!=")
WAIT_SECONDS_MAX = 60
# In place of cmake: says who it is, and then takes for ever.
ENDLESS = "#!/bin/sh\necho $$ > started.new && mv started.new started && exec sleep 600\n"


def mutants(text):
    return {operators.mutate(text, site) for site in operators.sites(text)}


class OperatorsTest(unittest.TestCase):
    def test_each_operator_makes_the_bug_it_is_named_for(self):
        for before, after in (
                ("  return a < b;", "  return a <= b;"), ("  return a >= b;", "  return a > b;"),
                ("  return a == b;", "  return a != b;"), ("  return a && b;", "  return a || b;"),
                ("  return true;", "  return false;"),
                ("  return std::min(a, b);", "  return std::max(a, b);"),
                ("  return a + b;", "  return a - b;"), ("  f(x, 0);", "  f(x, 1);"),
                ("  if (ready(a)) go();", "  if (!(ready(a))) go();"),
                ("  if (!ready) go();", "  if (!!ready) go();"),
                ("  total += size;", "  ;"), ("  queue.push_back(one);", "  ;")):
            with self.subTest(before):
                self.assertIn(after, mutants(before))

    def test_text_that_is_no_program_is_left_alone(self):
        for text in ("// a == b", '  return "a == b";', "#if A == B", "  PAWL_ASSERT(a == b);",
                     "/* a && b */",
                     "template <class A>", "static_assert(sizeof(int) == 4);", "  return x;",
                     "  std::vector<int> list;",
                     "  const auto x =\n      other(y);"):
            with self.subTest(text):
                self.assertEqual(mutants(text), set())

    def test_an_edit_changes_nothing_but_its_place(self):
        text = "int f() {\n  g(1);  // g(1)\n  return 1;\n}\n"
        for site in operators.sites(text):
            after = operators.mutate(text, site)
            self.assertEqual(after[:site.start], text[:site.start])
            self.assertEqual(after[site.start + len(site.new):], text[site.end:])


class RunTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("tests/mutants", "src/pawl", "bin"):
            (self.root / name).mkdir(parents=True)
        for name in ("run", "operators.py"):
            shutil.copy(HERE / name, self.root / "tests/mutants" / name)
        (self.root / "src/pawl/CMakeLists.txt").write_text("pawl_tests(one FILES one_test.cc)\n")
        (self.root / "src/pawl/one_test.cc").write_text(SOURCE)
        self.source = self.root / "src/pawl/one.cc"
        self.source.write_text(SOURCE)

    def program(self, name, text):
        path = self.root / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def start(self, *arguments):
        path = f"{self.root}/bin:{os.environ['PATH']}"
        command = [sys.executable, "-B", str(self.root / "tests/mutants/run"), *arguments]
        return subprocess.Popen(command, env={**os.environ, "PATH": path}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def output_of(self, *arguments):
        with self.start(*arguments) as process:
            output = process.communicate(timeout=WAIT_SECONDS_MAX)[0]
        return process.returncode, output

    def works_here(self, number):
        """Not only whether there is such a process: a number is soon another process's."""
        try:
            return os.readlink(f"/proc/{number}/cwd") == str(self.root)
        except OSError:
            return False

    def wait_for(self, condition):
        until = time.monotonic() + WAIT_SECONDS_MAX
        while not condition():
            self.assertLess(time.monotonic(), until, "waited too long")
            time.sleep(0.01)

    def test_a_signal_puts_the_source_back_and_ends_the_build(self):
        self.program("cmake", ENDLESS)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number.name):
                started = self.root / "started"
                started.unlink(missing_ok=True)
                with self.start() as process:
                    self.wait_for(started.exists)
                    self.assertEqual(self.source.read_text(), MUTANT)
                    process.send_signal(number)
                    process.communicate(timeout=WAIT_SECONDS_MAX)
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual(self.source.read_text(), SOURCE)
                self.wait_for(lambda: not self.works_here(started.read_text().strip()))

    def test_it_tells_what_was_caught_what_survived_and_what_did_not_compile(self):
        for build, test, words, code in (("true", "false", "1 of 1 caught (100 %)", 0),
                                         ("true", "true", "0 of 1 caught", 1),
                                         ("false", "true", "1 do not compile, 0 of 0", 1)):
            with self.subTest(words):
                self.program("cmake", f"#!/bin/sh\nexec {build}\n")
                self.program("ctest", f"#!/bin/sh\nexec {test}\n")
                status, output = self.output_of("--least", "50")
                self.assertIn(words, output)
                self.assertEqual(status, code)
                self.assertEqual(self.source.read_text(), SOURCE)

    def test_the_sample_follows_from_the_seed_and_never_touches_tests(self):
        lists = [self.output_of("--list", "--seed", str(seed))[1] for seed in (1, 1)]
        self.assertEqual(lists[0], lists[1])
        self.assertEqual(lists[0].strip(), "src/pawl/one.cc:2: equality: '==' -> '!='")

    def test_a_path_that_does_not_exist_is_refused(self):
        status, output = self.output_of("src/nothing")
        self.assertNotEqual(status, 0)
        self.assertIn("does not exist", output)


if __name__ == "__main__":
    unittest.main()
