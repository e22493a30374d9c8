#!/usr/bin/env python3
"""Sandboxes from outside: refused, connected to a few hosts, killed with their host, ended."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import elsewhere
from provider_stage import ProviderStage
from sandbox_test import SandboxStage, call
from support import PAWL, PATIENCE_S, SOURCE, main

ELSEWHERE = SOURCE / "tests/cli/elsewhere.py"
BASE = "write: [work], directory: work"


def finished(events):
    return [event for event in events if event["type"] == "tool_finished"]


class LifeStage(SandboxStage):
    def elsewhere(self, place, *words):
        said = subprocess.run([sys.executable, "-B", ELSEWHERE, place, PAWL, *map(str, words)],
                              cwd=self.directory, capture_output=True, text=True,
                              env=self.environment(), timeout=PATIENCE_S, check=False)
        if said.returncode == elsewhere.CANNOT:
            raise unittest.SkipTest(said.stderr)
        return said


class OlderLandlock(LifeStage):
    """What the program says where Landlock is older than what it could use (tests/landlock)."""

    def shown(self, version, *words):
        shim = PAWL.parents[1] / "lib/libpawl_landlock_shim.so"
        if not shim.exists():
            raise unittest.SkipTest("the library that shows an older Landlock was not built")
        said = subprocess.run([PAWL, *map(str, words)], cwd=self.directory, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False,
                              env={**self.environment(), "LD_PRELOAD": str(shim),
                                   "PAWL_TEST_LANDLOCK": str(version)})
        if "runtime does not come first" in said.stderr or "user namespaces" in said.stderr:
            raise unittest.SkipTest(said.stderr)
        return said

    def test_a_run_works_and_says_which_version_stands_behind_it(self):
        charter = self.tools(call("bash", command="touch made; mkdir d; mv made d"))
        for version, text in ((2, "Landlock 2 of 6"), (0, "no Landlock")):
            said = self.shown(version, "run", charter, "go", "--id", f"r{version}")
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            self.assertIn("sandbox: namespace, " + text, said.stderr)
            end = finished(self.events(f"r{version}"))[0]
            self.assertEqual((end["end"], end["level"]), ("succeeded", "namespace"))
            self.assertIn(text, self.shown(version, "doctor").stdout)
            (self.directory / "work/d/made").unlink()
            (self.directory / "work/d").rmdir()

    def test_a_policy_that_demands_more_refuses_the_charter(self):
        charter = self.tools(call("bash", command="touch made"),
                             sandbox="{ level: namespace, write: [work], directory: work }")
        self.write("policy.yaml", "sandbox: { level: namespace, landlock: 3 }\n")
        said = self.shown(2, "run", charter, "go", "--policy", "policy.yaml")
        self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
        self.assertRegex(said.stderr,
                         r"t\.yaml:\d+:\d+: the policy .*policy\.yaml demands version 3")
        self.assertFalse((self.directory / "work/made").exists())


class Refused(LifeStage):
    def test_where_namespaces_are_forbidden_there_is_no_run(self):
        charter = self.tools(call("bash", command="touch made"))
        said = self.elsewhere("no-namespaces", "run", charter, "go", "--id", "r")
        self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
        self.assertIn("user namespaces are not allowed here", said.stderr)
        self.assertIn("user.max_user_namespaces is 0 (as root: sysctl", said.stderr)
        self.assertFalse((self.directory / "work/made").exists())
        self.refused("show", "r", code=1, says="there are no runs")
        self.assertFalse(self.data.exists())

    def behind_landlock(self, charter, *words):
        said = self.elsewhere("no-namespaces", *(words or ("run", charter, "go", "--id", "r")))
        self.assertNotIn("user namespaces", said.stdout + said.stderr)
        if "Landlock" in said.stderr:
            raise unittest.SkipTest("not without Landlock, either: " + said.stderr)
        return said

    def test_a_repository_that_a_level_cannot_hold_refuses_the_run(self):
        """Unless the charter accepts it in so many words."""
        (self.directory / "work/.git/hooks").mkdir(parents=True)
        charter = self.tools(call("bash", command="echo made it"),
                             sandbox=f"{{ {BASE}, level: landlock }}")
        for words in (("run", charter, "go", "--id", "r"), ("validate", charter)):
            said = self.behind_landlock(charter, *words)
            self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
            self.assertIn("could write the protected name", said.stdout + said.stderr)
            self.assertIn("protected: if_possible", said.stdout + said.stderr)
        self.refused("show", "r", code=1, says="there are no runs")
        charter = self.tools(call("bash", command="echo made it"),
                             sandbox=f"{{ {BASE}, level: landlock, protected: if_possible }}")
        said = self.behind_landlock(charter)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.assertIn("made it", finished(self.events("r"))[0]["content"])

    def test_a_call_that_makes_a_name_the_level_cannot_hold_is_denied(self):
        charter = self.tools(call("bash", command="echo x >.envrc && echo made it") +
                             call("bash", command="ls -A"),
                             sandbox=f"{{ {BASE}, level: landlock }}")
        said = self.behind_landlock(charter)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        denied, after = finished(self.events("r"))
        self.assertEqual(json.loads(denied["content"])["error"], "denied")
        self.assertIn("it was moved to", denied["content"])
        self.assertNotIn(" .envrc", after["content"])
        self.assertFalse((self.directory / "work/.envrc").exists())

    def test_a_lower_level_is_had_where_it_is_named(self):
        charter = self.tools(call("bash", command="echo x >made && echo made it"),
                             sandbox=f"{{ {BASE}, level: landlock }}")
        said = self.behind_landlock(charter)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        end = finished(self.events("r"))[0]
        self.assertIn("made it", end["content"])
        self.assertEqual(end["level"], "landlock")


class Connected(LifeStage):
    def ask(self, host):
        """By the proxy and not by the variables that curl reads: there may be no curl."""
        return ("exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://%s/ HTTP/1.1\\r\\n"
                f"Host: %s\\r\\n\\r\\n' {host} {host} >&3; cat <&3; exec 3>&-")

    def test_only_listed_hosts_are_reached(self):
        listed, other = (f"{name}:{elsewhere.PORT}" for name in elsewhere.NAMES)
        direct = f"exec 4<>/dev/tcp/{elsewhere.ADDRESS}/{elsewhere.PORT} && echo straight through"
        charter = self.tools(call("bash", command=self.ask(listed)) +
                             call("bash", command=self.ask(other)) +
                             call("bash", command=direct),
                             sandbox=f"{{ {BASE}, network: {{ hosts: ['{listed}'] }} }}")
        said = self.elsewhere("public", "run", charter, "go", "--id", "r")
        if "user namespaces" in said.stderr:
            raise unittest.SkipTest("no user namespace inside of another: " + said.stderr)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        through, refused, straight = (end["content"] for end in finished(self.events("r")))
        self.assertIn("the server has answered", through)
        self.assertIn("403", refused)
        self.assertNotIn("the server has answered", refused)
        self.assertNotIn("straight through", straight)
        self.assertEqual((self.directory / "served").read_text(), f"{listed}\n")
        told = self.ok("explain", "r").stdout
        self.assertRegex(told, rf"c1 {listed} allowed: {elsewhere.ADDRESS}")
        self.assertRegex(told, rf"c2 {other} refused: ")


class Killed(LifeStage):
    """The host is killed with -9 in the middle of a call, and the run is taken up again."""
    serve = ProviderStage.serve
    ask_server = ProviderStage.ask_server
    all_requests = ProviderStage.all_requests
    requests = ProviderStage.requests
    variables = {}

    def environment(self):
        return {**super().environment(), **self.variables}

    def calling(self, tool, **arguments):
        """A charter whose model, on loopback, calls the tool once; what it is told can be read."""
        self.variables = {}
        self.serve("keys: off\nreplies:\n" + call(tool, **arguments) + "  - text: Done.\n")
        charter = self.tools("")
        text = (self.directory / charter).read_text()
        return self.write(charter, text.replace("models: { main: scripted/t.script.yaml }",
                                                "model: anthropic/claude-sonnet-4-5"))

    def taken_up(self, run):
        said = self.ok("resume", run)
        self.assertIn("its outcome is unknown, and the model is told so", said.stdout)
        self.assertEqual(finished(self.events(run)), [])
        self.assertIn("call_unknown", json.dumps(self.events(run)))
        asked = self.requests()
        self.assertEqual(len(asked), 2)
        told = json.dumps(asked[1]["body"]["messages"][-1])
        self.assertIn("whether it took effect is not known", told)
        self.assertEqual(self.status(run), "done")
        self.ok("replay", run)

    def kill_in_the_middle(self, run, tool, **arguments):
        made = self.directory / "work/made"
        made.unlink(missing_ok=True)
        host = self.start("run", self.calling(tool, **arguments), "go", "--id", run)
        self.wait_for(lambda: host.poll() is not None or (made.exists() and made.read_text()),
                      "the effect")
        if host.poll() is not None:
            self.skip_without_namespaces(host)
        host.kill()
        host.communicate()
        self.taken_up(run)
        self.assertEqual(made.read_text(), "once\n")

    def skip_without_namespaces(self, host):
        out, err = host.communicate()
        if "user namespaces" in out + err:
            raise unittest.SkipTest(err)
        self.fail(f"it ended before it was killed: {out}\n{err}")

    def test_in_the_middle_of_bash(self):
        self.kill_in_the_middle("r", "bash", command="echo once >>made; sleep 1000")

    def test_in_the_middle_of_exec(self):
        self.kill_in_the_middle("r", "exec", argv=["sh", "-c", "echo once >>made; sleep 1000"])

    def traced(self, *words, inject):
        """strace, and pawl as its child."""
        strace = shutil.which("strace")
        tried = strace and subprocess.run([strace, "-o", "/dev/null", "true"], check=False)
        if not tried or tried.returncode != 0:
            raise unittest.SkipTest("strace is missing, or may not trace here")
        tracer = subprocess.Popen(
            [strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e",
             f"inject=renameat2:{inject}", PAWL, *map(str, words)], cwd=self.directory, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment())
        self.started.append(tracer)
        return tracer

    def test_before_create_file_has_put_its_file_in_place(self):
        charter = self.calling("create_file", path="made", file_text="once\n")
        host = self.traced("run", charter, "go", "--id", "r", inject="signal=SIGKILL")
        out, err = host.communicate(timeout=PATIENCE_S)
        if "user namespaces" in out + err:
            raise unittest.SkipTest(err)
        self.assertEqual(host.returncode, -signal.SIGKILL, out + err)
        self.taken_up("r")
        self.assertFalse((self.directory / "work/made").exists())

    def test_after_create_file_has_put_its_file_in_place(self):
        made = self.directory / "work/made"
        charter = self.calling("create_file", path="made", file_text="once\n", overwrite=True)
        tracer = self.traced("run", charter, "go", "--id", "r", inject="delay_exit=600000000")
        self.wait_for(lambda: tracer.poll() is not None or made.exists(), "the file")
        if tracer.poll() is not None:
            self.skip_without_namespaces(tracer)
        first = made.stat().st_ino
        children = pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text()
        os.kill(int(children.split()[0]), signal.SIGKILL)
        tracer.kill()
        tracer.communicate(timeout=PATIENCE_S)
        self.taken_up("r")
        self.assertEqual((made.read_text(), made.stat().st_ino), ("once\n", first))


class Ended(LifeStage):
    """One host drives run after run (`resume --due`): what one leaves is there in the next."""

    def job(self, run):
        """A background job of the session's shell; it lives as long as the shell does."""
        return call("bash", command=f"(exec -a {self.mark}-{run} sleep 1000) & echo started")

    def at_gate(self, run):
        return call("bash", command=f"echo >at-{run}; read _ <gate-{run}; echo passed")

    def jobs(self):
        """The runs whose jobs are alive."""
        found = set()
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                name = path.read_bytes().split(b"\0")[0].decode(errors="replace")
            except OSError:  # it has just ended
                continue
            if name.startswith(self.mark + "-"):
                found.add(name.removeprefix(self.mark + "-"))
        return found

    ENDS = {
        "done": "  - text: Done.\n",
        "failed": "  - error: { category: validation_error }\n",
        "parked": "  - call: [{ tool: str_replace, input: { path: x, old_str: y } }]\n",
        "cancelled": "  - text: Never.\n",
    }

    def prepare(self, run, end):
        """A run that waits for a time, then starts a job, waits at its gate, and ends."""
        asked = call("str_replace", path="x", old_str="x")
        charter = self.tools(asked + self.job(run) + self.at_gate(run) + end)
        self.write(f"{run}.script.yaml", (self.directory / "t.script.yaml").read_text())
        text = (self.directory / charter).read_text()
        text = text.replace("t.script.yaml", f"{run}.script.yaml")
        text = text.replace("tools: {", "tools: { ask: [str_replace],")
        text += "approvals: { expires: 3s }\n"
        charter = self.write(f"{run}.yaml", text)
        os.mkfifo(self.directory / f"work/gate-{run}", 0o666)
        said = self.pawl("run", charter, "go", "--id", run)
        if "user namespaces" in said.stderr:
            raise unittest.SkipTest(said.stderr)
        self.assertEqual(said.returncode, 4, said.stdout + said.stderr)

    def pass_gate(self, run):
        gates = []

        def opened():
            try:
                path = self.directory / f"work/gate-{run}"
                gates.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # nobody reads yet
                return False
            return True
        self.wait_for(opened, f"{run} at its gate")
        os.write(gates[0], b"\n")
        os.close(gates[0])

    def test_nothing_of_a_session_outlives_its_run(self):
        self.mark = self.directory.name
        self.prepare("witness", "  - text: Done.\n")  # the oldest is taken up last
        for run, end in self.ENDS.items():
            self.prepare(run, end)
        due = max(json.loads(line)["expires_at_ms"]
                  for line in self.ok("approvals", "--json").stdout.splitlines())
        self.wait_for(lambda: time.time() * 1000 > due, "the time")
        host = self.start("resume", "--due")
        for run in [*reversed(self.ENDS), "witness"]:
            at = self.directory / f"work/at-{run}"
            self.wait_for(lambda: host.poll() is not None or at.exists(), run)
            self.assertIsNone(host.poll())
            self.wait_for(lambda: self.jobs() == {run}, f"the job of {run}, and no other")
            if run == "cancelled":
                self.ok("cancel", run)
            else:
                self.pass_gate(run)
        out, err = host.communicate(timeout=PATIENCE_S)
        self.wait_for(lambda: not self.jobs(), "the end of all jobs")
        standing = {run: self.status(run) for run in self.ENDS}
        self.assertEqual(standing, {"done": "done", "failed": "failed", "parked": "waiting",
                                    "cancelled": "cancelled"}, out + err)


if __name__ == "__main__":
    main()
