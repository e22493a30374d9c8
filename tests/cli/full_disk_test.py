#!/usr/bin/env python3
"""A data disk that is small or full: limits hold, people are told, no run stalls another."""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import unittest

from support import PAWL, TIME_SCALE, Stage, main

CANNOT = 77
SCENES = ("fill_under_a_run", "flood_beside_a_run", "two_floods_beside_a_run",
          "loud_journals_beside_runs", "session_on_a_full_disk")
LOUD = "head -c 45000 /dev/urandom | base64 -w0"
TIME_LIMIT_S = 4
LEAVES_WITHIN_S = 20  # the limit, 5 s of a store that writes nothing, and a slow machine
SLEEPER = ("    wait: { command: [./wait.sh], description: Waits., effect: pure, timeout: 600s }\n")


def fill(path):
    """All that the disk has left."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        while True:
            os.write(file, bytes(4096))
    except OSError:
        os.close(file)


def free_bytes(path):
    return os.statvfs(path).f_bavail * os.statvfs(path).f_frsize


def until(condition, what):
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"this never came true: {what}")
        time.sleep(0.02)


def is_alive(pid):
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def pawl(*words):
    begun = time.monotonic()
    said = subprocess.run([PAWL, *words], capture_output=True, text=True, timeout=60, check=False)
    return {"code": said.returncode, "said": said.stdout + said.stderr,
            "seconds": time.monotonic() - begun}


def fill_under_a_run():
    """In a mount namespace with a small disk at $PAWL_DATA: what a run does when it is full."""
    filler = pathlib.Path(os.environ["PAWL_DATA"]) / "filler"
    pid_file = pathlib.Path("pid")
    begun = time.monotonic()
    with subprocess.Popen([PAWL, "run", "slow.yaml", "go", "--id", "r"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        until(lambda: pid_file.exists() and pid_file.read_text(encoding="utf-8").strip(),
              "the tool has begun")
        fill(filler)
        cancel = pawl("cancel", "r")
        text, _ = run.communicate(timeout=60)
    seen = {"code": run.returncode, "said": text, "seconds": time.monotonic() - begun,
            "cancel": cancel, "tool_lives": is_alive(int(pid_file.read_text(encoding="utf-8")))}
    filler.unlink()
    seen["verify"] = pawl("verify", "r")
    seen["resume"] = pawl("resume", "r")
    return seen


def flood_beside_a_run():
    """One run's commands print 60 MB on a disk of 24; another goes on beside it."""
    with subprocess.Popen([PAWL, "run", "flood.yaml", "go", "--id", "f", "--json"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as flood:
        beside = [pawl("run", "small.yaml", "go", "--id", f"s{i}") for i in range(3)]
        text, _ = flood.communicate(timeout=60)
    kept = sum(file.stat().st_size for file in
               (pathlib.Path(os.environ["PAWL_DATA"]) / "artifacts/f").iterdir())
    results = [pawl("artifacts", "f", digest)["said"][:400]
               for digest in re.findall(r'"blob":"([0-9a-f]{64})"', text)]
    return {"code": flood.returncode, "said": text, "beside": beside, "kept": kept,
            "results": results}


def two_floods_beside_a_run():
    """Two runs print 60 MB each on a disk of 48; others go on beside them, and all end in time."""
    begun = time.monotonic()
    floods = [subprocess.Popen([PAWL, "run", "flood.yaml", "go", "--id", name], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
              for name in ("f", "g")]
    beside = [pawl("run", "small.yaml", "go", "--id", f"s{i}") for i in range(4)]
    said = [flood.communicate(timeout=100)[0] for flood in floods]
    return {"codes": [flood.returncode for flood in floods], "said": said, "beside": beside,
            "seconds": time.monotonic() - begun}


def loud_journals_beside_runs():
    """Two runs whose records are large, on a disk of 24 MB; others go on beside them."""
    data = pathlib.Path(os.environ["PAWL_DATA"])
    louds = [subprocess.Popen([PAWL, "run", "loud.yaml", "go", "--id", name], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
             for name in ("f", "g")]
    output = LoudOutput(louds)
    until(lambda: output.is_full() and free_bytes(data) < 5 << 20, "the loud runs wait for space")
    beside = [pawl("run", "small.yaml", "go", "--id", f"s{i}") for i in range(4)]
    free = free_bytes(data)
    stopped = [loud.poll() for loud in louds]
    codes = [loud.wait(timeout=100) for loud in louds]
    return {"codes": codes, "beside": beside, "free": free, "stopped": stopped,
            "verify": pawl("verify", "--all")}


class LoudOutput:
    """Reads what runs print, so that they do not wait for a reader."""

    def __init__(self, processes):
        self.lines = []
        for process in processes:
            threading.Thread(target=self.lines.extend, args=(process.stdout,),
                             daemon=True).start()

    def is_full(self):
        return sum("no space left" in line for line in self.lines) >= 2


def session_on_a_full_disk():
    """The disk is full before the first call of a session, then there is room."""
    filler = pathlib.Path(os.environ["PAWL_DATA"]) / "filler"
    with subprocess.Popen([PAWL, "run", "late.yaml", "go", "--id", "r", "--json"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        output = LoudOutput([run])
        until(lambda: pathlib.Path("begun").exists(), "the run has begun")
        fill(filler)
        pathlib.Path("full").touch()
        time.sleep(3)
        lives = run.poll() is None
        filler.unlink()
        run.wait(timeout=60)
    return {"code": run.returncode, "said": "".join(output.lines[-60:]), "lives": lives}


class FullDisk(Stage):
    def inside(self, scene, megabytes):
        """What a scene saw, in a mount namespace of its own with a small data disk."""
        self.data.mkdir()
        words = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() != 0 else []),
                 "sh", "-c", f"mount -t tmpfs -o size={megabytes}m,mode=0700 none '{self.data}' || "
                 f"exit {CANNOT}; exec \"$@\"", "sh", sys.executable, "-B", __file__, scene]
        environment = {**self.environment(), "PAWL_BINARY_DIR": str(PAWL.parents[1])}
        said = subprocess.run(words, cwd=self.directory, env=environment, capture_output=True,
                              text=True, timeout=150, check=False)
        if said.returncode == CANNOT or "unshare:" in said.stderr:
            raise unittest.SkipTest("no mount namespace here: " + said.stderr)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        return json.loads(said.stdout)

    def test_the_time_limit_holds_and_people_are_told_while_the_disk_is_full(self):
        self.write("wait.sh", "#!/bin/sh\necho $$ >pid\nexec sleep 600\n", mode=0o755)
        self.charter("slow", "  - call: [{ tool: wait, input: {} }]\n  - text: Done.\n", SLEEPER,
                     f"limits: {{ steps: 20, time: {TIME_LIMIT_S}s }}\n")
        seen = self.inside("fill_under_a_run", 4)
        self.assertEqual(seen["code"], 1, seen)
        self.assertIn("its store could not write that down", seen["said"])
        self.assertIn("pawl resume r", seen["said"])
        self.assertLess(seen["seconds"], TIME_LIMIT_S + LEAVES_WITHIN_S)
        self.assertFalse(seen["tool_lives"], seen)
        self.assertEqual(seen["cancel"]["code"], 1, seen)
        self.assertIn("no space left", seen["cancel"]["said"])
        self.assertEqual(seen["verify"]["code"], 0, seen)
        self.assertNotIn(seen["resume"]["code"], (0, 1, 2), seen)  # it ends by its limit
        self.assertIn("time", seen["resume"]["said"])

    def flood_charters(self):
        """flood.yaml prints 20 MB three times, small.yaml little."""
        (self.directory / "work").mkdir()
        for name, command in (("flood", "head -c 20000000 /dev/zero | tr '\\\\0' x"),
                              ("small", "echo hello")):
            calls = [f'[{{ tool: bash, input: {{ command: "{command} # {i}" }} }}]'
                     for i in range(3)]  # none is like the one before
            self.write(f"{name}.script.yaml", "replies:\n" +
                       "".join(f"  - call: {one}\n" for one in calls) + "  - text: Done.\n")
            self.write(f"{name}.yaml", f"name: {name}\ninstructions: Go.\n"
                       f"models: {{ main: scripted/{name}.script.yaml }}\n"
                       "sandbox: { write: [work], directory: work }\ntools: { use: [bash] }\n")

    def test_output_is_bounded_and_another_run_goes_on(self):
        self.flood_charters()
        seen = self.inside("flood_beside_a_run", 24)
        if "user namespaces" in seen["said"]:
            raise unittest.SkipTest(seen["said"])
        self.assertEqual(seen["code"], 0, seen["said"][-2000:])
        self.assertRegex(seen["results"][-1], r"Of 20000000 bytes of output the first \d+ are "
                         "kept: the disk has too little space left")
        self.assertLessEqual(seen["kept"], (24 << 20) * 9 // 10)  # a tenth is the journal's
        self.assertEqual([one["code"] for one in seen["beside"]], [0, 0, 0], seen["beside"])

    def test_two_loud_runs_stall_no_other_on_a_small_disk(self):
        self.flood_charters()
        seen = self.inside("two_floods_beside_a_run", 48)
        if any("user namespaces" in said for said in seen["said"]):
            raise unittest.SkipTest(seen["said"][0])
        self.assertEqual(seen["codes"], [0, 0], seen["said"])
        self.assertEqual([one["code"] for one in seen["beside"]], [0, 0, 0, 0], seen["beside"])

    def test_loud_journals_stall_no_other_run(self):
        self.flood_charters()
        calls = "".join(f'  - call: [{{ tool: bash, input: {{ command: "{LOUD} # {i}" }} }}]\n'
                        for i in range(900))
        self.write("loud.script.yaml", "replies:\n" + calls + "  - text: Done.\n")
        self.write("loud.yaml", "name: loud\ninstructions: Go.\n"
                   "models: { main: scripted/loud.script.yaml }\n"
                   f"limits: {{ steps: 999, time: {20 * TIME_SCALE}s }}\n"
                   "sandbox: { write: [work], directory: work }\ntools: { use: [bash] }\n")
        seen = self.inside("loud_journals_beside_runs", 24)
        if any("user namespaces" in one["said"] for one in seen["beside"]):
            raise unittest.SkipTest(seen["beside"][0]["said"])
        self.assertEqual([one["code"] for one in seen["beside"]], [0, 0, 0, 0], seen)
        self.assertEqual(seen["stopped"], [None, None], "they had not waited")
        self.assertGreater(seen["free"], 1 << 20)  # kept from the loud ones
        self.assertEqual(seen["codes"], [1, 1])  # their time is over
        self.assertEqual(seen["verify"]["code"], 0, seen["verify"])

    def test_a_session_waits_for_space(self):
        """The log has been written back once, so that records fit into it on a full disk."""
        (self.directory / "work").mkdir()
        self.write("wait.sh", "#!/bin/sh\ntouch begun\nwhile [ ! -e full ]; do sleep 0.02; done\n",
                   mode=0o755)
        self.write("print.sh", f"#!/bin/sh\n{LOUD}\n", mode=0o755)
        define = "".join(f"    {name}: {{ command: [./{name}.sh], effect: pure, sandbox: false,\n"
                         "      description: Works., input: { type: object } }\n"
                         for name in ("wait", "print"))
        calls = 320 * ["{ tool: print, input: { n: %d } }"] + ["{ tool: wait, input: { n: %d } }"]
        calls += 6 * ['{ tool: bash, input: { command: "echo hello # %d" } }']
        self.write("late.script.yaml", "replies:\n" + "".join(
            f"  - call: [{one % i}]\n" for i, one in enumerate(calls)) + "  - text: Done.\n")
        self.write("late.yaml", "name: late\ninstructions: Go.\n"
                   "models: { main: scripted/late.script.yaml }\nlimits: { steps: 999 }\n"
                   "sandbox: { write: [work], directory: work }\n"
                   f"tools:\n  use: [bash]\n  define:\n{define}")
        seen = self.inside("session_on_a_full_disk", 96)
        if "user namespaces" in seen["said"]:
            raise unittest.SkipTest(seen["said"])
        self.assertTrue(seen["lives"], seen["said"][-2000:])
        self.assertEqual(seen["code"], 0, seen["said"][-2000:])
        self.assertNotIn("No space left", seen["said"])
        self.assertEqual(seen["said"].count(r'\"output\":\"hello'), 6, seen["said"][-2000:])


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] in SCENES:
        print(json.dumps(globals()[sys.argv[1]]()))
    else:
        main()
