#!/usr/bin/env python3
"""An operator's ordinary day beside a hostile agent, in one repository, drawn from a seed.

    git_day_test.py                       a short day, as ctest runs it
    PAWL_GIT_DAY_MINUTES=60 PAWL_GIT_DAY_SEED=7 git_day_test.py

After every call: the operator's git is sound, nothing of the agent's ran on the host, nothing of
its configuration and hooks is in the operator's, no name of Pawl's is in the work tree, and each
ref, HEAD, index, stash and status is the same on both sides, unless a call said of that very thing
that it is not.
"""

import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import git_day
from git_sides import SAID, STATE, UNDER_WAY, Sides
from git_test import GitStage
from support import PAWL, main

MINUTES = float(os.environ.get("PAWL_GIT_DAY_MINUTES", "0"))
CALLS_OF_SESSION = 8 if MINUTES else 4
GATE = """#!/bin/sh
touch between
until [ -e go ]; do sleep 0.01; done
rm -f go between
"""
LOOKS = ("git status; git diff; git log -p -2; git branch -avv; git stash list; git show; "
         "git submodule status; git diff --cached; git ls-files -d -m -o; git describe --all")


def tree_digest(*paths):
    """Of all files beneath, with their names and modes."""
    digest = hashlib.sha256()
    for path in paths:
        for file in [path, *sorted(path.rglob("*"))] if path.is_dir() else [path]:
            digest.update(str(file).encode())
            if file.is_file() and not file.is_symlink():
                digest.update(file.read_bytes() + str(file.stat().st_mode).encode())
    return digest.hexdigest()


class Day(GitStage):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("PAWL_GIT_DAY_SEED", "1"))
        self.random = random.Random(self.seed)
        self.marker = self.directory / "MARKER"  # where no command of the sandbox can write
        self.gates = self.directory / "gates"
        self.control = self.directory / "control"
        for path in (self.gates, self.control):
            path.mkdir()
        self.number = 0
        self.story = []
        self.sides = Sides()
        self.prepare()

    def shell(self, text, at=None, code=None):
        said = subprocess.run(["bash", "-c", text], cwd=at or self.work, env=self.environment(),
                              capture_output=True, text=True, check=False, timeout=60,
                              errors="replace")
        if code is not None:
            self.assertEqual(said.returncode, code, f"{text}\n{said.stdout}\n{said.stderr}")
        return said.stdout

    def prepare(self):
        """A clone with a submodule, a remote, a hook of the operator's and some history."""
        config = self.directory / ".gitconfig"
        config.write_text(config.read_text() + "[protocol \"file\"]\n\tallow = always\n"
                          "[core]\n\tpager = cat\n\teditor = true\n")
        self.write("gate.sh", GATE, 0o755)
        self.shell("git init -q inner; cd inner; echo i >inner; git add .; git commit -qm i; "
                   "cd ..; git init -q --bare remote.git; "
                   "git -C inner push -q ../remote.git main:inner; "
                   f"rm -rf {self.work}; git init -q {self.work}; cd {self.work}; "
                   "for f in a b c o; do echo $f >$f; done; git add .; git commit -qm first; "
                   "echo more >>a; git commit -qam second; "
                   "git remote add origin ../remote.git; git push -qu origin main; "
                   "git submodule -q add -b inner ../remote.git sub; git commit -qm sub; "
                   "git branch topic1; "
                   "printf '#!/bin/sh\\nexit 0\\n' >.git/hooks/pre-commit; "
                   "chmod +x .git/hooks/pre-commit", at=self.directory, code=0)
        self.evil = self.work / "evil"
        self.evil.write_text(f"#!/bin/sh\ntouch {self.marker}\ncat\n")
        self.evil.chmod(0o755)

    def operator_files(self):
        git = self.work / ".git"
        return tree_digest(git / "config", git / "hooks", git / "info", git / "modules/sub/config",
                           git / "modules/sub/hooks", git / "modules/sub/info",
                           git / "config.worktree", git / "commondir",
                           git / "objects/info/alternates")

    def operate(self, text=None):
        text = text or self.random.choice(git_day.OPERATOR)
        text = text.format(n=self.number, home=self.directory, work=self.work, evil=self.evil)
        self.story.append(f"operator: {text}")
        self.shell(text)

    def check(self, when):
        """Looks as an operator would; what git runs for that must not be the agent's."""
        files = self.files
        self.shell(LOOKS)
        for path in self.work.rglob("*"):
            if path.is_dir() and not path.is_symlink() and ".git" not in path.parts:
                if (path / ".git").exists() or (path / "HEAD").exists() or (path / "refs").exists():
                    self.shell("git status; git log -1; git diff; git branch", at=path)
        self.assertFalse(self.marker.exists(), f"the host ran the agent's program {when}")
        self.assertEqual(self.operator_files(), files, f"configuration or hooks changed {when}")
        # Without the commit graph: the operator's `git repack -ad` leaves commits in it that are
        # gone.
        sound = "git -c core.commitGraph=false fsck --no-dangling --no-progress"
        self.shell(sound, code=0)
        self.shell(sound, at=self.work / "sub", code=0)
        # A git of the agent's that was killed leaves locks in the agent's own bare repositories.
        left = [str(path) for path in self.work.rglob("*")
                if "pawl" in path.name or ".new." in path.name
                or (path.suffix == ".lock" and "deep" not in path.parts)]
        self.assertEqual(left, [], f"names of Pawl's {when}")
        self.assertEqual(self.shell("git for-each-ref refs/replace refs/odd"), "")

    def script(self, count):
        """The calls of a session: shell text, with a barrier in the first and some others."""
        calls = []
        for _ in range(count):
            self.number += 1
            kind = self.random.random()
            pool = git_day.AGENT_WORK if kind < 0.62 else git_day.AGENT_ATTACKS
            text = self.random.choice(pool) if kind < 0.95 else git_day.RECONCILE
            if kind > 0.985:
                text = self.random.choice(git_day.AGENT_WRECKS)
            text = text.format(n=self.number, work=self.work, evil=self.evil)
            calls.append((self.number, text, not calls or self.random.random() < 0.4))
        self.number += 1
        return [*calls, (self.number, ":", False)]  # shows what came of the last one

    def charter_of(self, name, calls):
        replies = ""
        for number, text, barrier in calls:
            gates = self.gates
            wait = (f"touch {gates}/mid{number}; until [ -e {gates}/go{number} ]; do sleep 0.01; "
                    "done; " if barrier else "")
            line = (f"cd {self.work}; for d in . sub; do cd $d; g=$(git rev-parse --git-dir); "
                    f"for f in {UNDER_WAY.replace('.git/', '$g/')}; do "
                    f"[ -e $f ] && touch {gates}/underway{number}-$d; done; cd {self.work}; done; "
                    f"({STATE}) >{gates}/inside{number} 2>/dev/null; {wait}"
                    f"{{ {text}\n}} </dev/null >/dev/null 2>&1; cd {self.work}; true")
            (gates / f"step{number}").write_text(line)
            step = f"{{ command: bash {gates}/step{number} }}"
            replies += f"  - call: [{{ tool: bash, input: {step} }}]\n"
            replies += f"  - call: [{{ tool: gate, input: {{ n: {number} }} }}]\n"
        control = self.control / name
        control.mkdir()
        shutil.copy(self.directory / "gate.sh", control / "gate.sh")
        self.write(f"control/{name}/t.script.yaml", "replies:\n" + replies + "  - text: Done.\n")
        self.write(f"control/{name}/t.yaml", "name: t\nmodels: { main: scripted/t.script.yaml }\n"
                   f"sandbox: {{ write: [{self.work}, {self.gates}], directory: {self.work} }}\n"
                   "limits: { steps: 400, time: 600s }\n"
                   "tools: { use: [bash], define: { gate: { description: Waits., sandbox: false, "
                   "command: [./gate.sh], input: { type: object } } } }\ninstructions: Go.\n")
        return control

    def begin(self, name, calls):
        control = self.charter_of(name, calls)
        with open(control / "said", "w", encoding="utf-8") as said:
            run = subprocess.Popen([PAWL, "run", "t.yaml", "go", "--id", name], cwd=control,
                                   stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                   env=self.environment())
        self.started.append(run)
        return run

    def test_a_day(self):
        sessions = 0
        end = time.monotonic() + 60 * MINUTES
        while sessions < 2 or time.monotonic() < end:
            sessions += 1
            try:
                self.session(f"s{sessions}")
            except BaseException:
                print(f"seed {self.seed}, session {sessions}, in {self.directory}")
                print("\n".join(self.story[-40:]))
                raise
        if MINUTES:
            print(f"seed {self.seed}: {sessions} sessions, {self.number} calls, {self.sides}")

    def session(self, name):
        calls = self.script(CALLS_OF_SESSION)
        doomed = self.random.random() < 0.3 and self.random.choice(calls)[0]
        self.files = self.operator_files()
        control, run = self.control / name, self.begin(name, calls)
        self.story.append(f"=== session {name}")
        outside = self.shell(STATE)
        self.sides.said.clear()  # a session says again what differs
        for number, text, barrier in calls:
            self.story.append(f"call {number}: {text}")
            if barrier:
                self.reach(run, control, self.gates / f"mid{number}")
                if number == calls[0][0]:  # what a killed session had not published is by now
                    self.files, outside = self.operator_files(), self.shell(STATE)
                self.operate()
                self.files = self.operator_files()
                (self.gates / f"go{number}").touch()
            if number == doomed:
                time.sleep(self.random.random() * 0.5)
                run.send_signal(signal.SIGKILL)
                run.wait()
                self.story.append("kill -9")
                return
            self.reach(run, control, control / "between")
            self.compare(number, outside, self.last_said(name))
            self.check(f"after call {number}")
            if self.random.random() < 0.4:
                self.operate()
                self.files = self.operator_files()
            outside = self.shell(STATE)
            (control / "go").touch()
            self.wait_for(lambda: not (control / "go").exists(), "the gate")
        run.wait(timeout=60)
        self.check("after the session")

    def last_said(self, name):
        """What the last call in the sandbox has printed; the gate's answer is plain text."""
        ends = [event["content"] for event in self.events(name) if event["type"] == "tool_finished"]
        texts = [end if isinstance(end, str) else json.dumps(end) for end in ends]
        return [text for text in texts if text.startswith("{")][-1]

    def compare(self, number, outside, said):
        """Both sides agreed when the call began, but for what was said to differ."""
        inside = (self.gates / f"inside{number}").read_text(errors="replace")
        self.story += SAID.findall(said)
        if '"blob"' in said:  # too long to be told here: it may have been said
            self.sides.count("calls whose output was too long to be read")
            self.sides.unread = True
            return
        directories = {"work": ".", "sub": "sub"}
        differ = self.sides.compare(
            outside, inside, said,
            lambda place: (self.gates / f"underway{number}-{directories[place]}").exists())
        if differ:
            self.fail(f"before call {number} {differ} differ, and nothing was said of them\n"
                      f"--- outside\n{outside}\n--- inside\n{inside}\n--- said\n{said}")

    def reach(self, run, control, path):
        self.wait_for(lambda: path.exists() or run.poll() is not None, str(path))
        if run.poll() is not None:
            self.fail(f"the run ended early: {(control / 'said').read_text()}")


if __name__ == "__main__":
    main()
