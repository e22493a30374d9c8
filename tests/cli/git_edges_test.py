#!/usr/bin/env python3
"""Git in the sandbox, at its edges: what the operator's git runs of the work tree, bare
repositories, damage, filters, submodules, a replaced .git, and what a kill leaves."""

import os
import signal
import subprocess

from git_test import GitStage
from sandbox_test import call
from support import main


class Edges(GitStage):
    def evil(self):
        """A shell line that makes a program, which leaves a mark where no command can write."""
        self.marker = self.directory / "MARKER"
        return f"printf '#!/bin/sh\\ntouch {self.marker}\\n' >evil; chmod +x evil; "

    def test_hooks_and_scripts_of_the_work_tree_are_read_only(self):
        self.repository()
        evil = self.evil()
        for name in ("hooks/pre-commit", "tools/show", "shared"):
            (self.work / name).parent.mkdir(exist_ok=True)
            (self.work / name).write_text("#!/bin/sh\nexit 0\n" if "/" in name else "[user]\n")
            (self.work / name).chmod(0o755)
        self.git("config", "core.hooksPath", "hooks")
        self.git("config", "include.path", "../shared")
        self.git("config", "diff.external", "tools/show")
        said = self.bash(evil + "cp evil hooks/pre-commit; cp evil hooks/post-commit; "
                         "cp evil tools/show; mv tools other; rm hooks/pre-commit; "
                         "printf '[core]\\n\\tfsmonitor=./evil\\n' >shared; ls hooks tools")
        self.assertIn("Read-only file system", said[0])
        self.assertIn("pre-commit", said[0])
        self.git("commit", "--allow-empty", "-qm", "operator")
        self.git("diff")
        self.git("status")
        self.assertFalse(self.marker.exists())

    def test_what_a_command_cannot_write_does_not_come_in_by_a_commit(self):
        self.repository()
        evil = self.evil()
        (self.work / ".husky").mkdir()
        (self.work / ".husky/pre-commit").write_text("#!/bin/sh\nexit 0\n")
        (self.work / ".husky/pre-commit").chmod(0o755)
        (self.work / ".envrc").write_text("mine\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "second")
        self.git("config", "core.hooksPath", ".husky")
        plant = ("b=$(git hash-object -w evil); "
                 "for f in .envrc .bashrc sub/.mcp.json .husky/pre-commit; do "
                 "git update-index --add --cacheinfo \"100755,$b,$f\"; done; "
                 "git commit --no-verify -qm planted")
        stash = ("git branch side; c=$(git commit-tree -p HEAD~1 -p HEAD -m x \"HEAD^{tree}\"); "
                 "git stash store -m x \"$c\"")
        said = self.bash(evil + plant, stash, "echo fine")
        self.assertIn("main is not published: it changes .bashrc, which is protected", said[0])
        self.assertIn("side is not published", said[1] + said[2])
        self.assertIn("stash is not published", said[1] + said[2])
        self.assertNotIn("planted", self.git("log", "--all", "--format=%s"))
        (self.work / "own").write_text("x")
        self.git("add", "own")
        self.git("stash")
        self.git("stash", "pop")
        self.git("commit", "-qm", "operator")
        self.assertEqual((self.work / ".envrc").read_text(), "mine\n")
        self.assertFalse(self.marker.exists())

    def test_hooks_that_appear_where_a_hook_manager_looks_are_taken(self):
        self.repository()
        evil = self.evil()
        self.git("config", "core.hooksPath", ".husky/_")
        said = self.bash(evil + "mkdir -p .husky/_; cp evil .husky/_/pre-commit")
        self.assertIn(".husky is a protected name: it was moved to", said[0])
        self.git("commit", "--allow-empty", "-qm", "operator")
        self.assertFalse(self.marker.exists())

    def test_bare_repositories(self):
        self.repository()
        evil = self.evil()
        self.git("init", "-q", "--bare", "own.git")
        said = self.bash(
            "git -C own.git config core.fsmonitor x || echo read-only",
            evil + "mkdir -p deep/b/c; git init -q --bare deep/b/c; "
            f"git -C deep/b/c config core.fsmonitor {self.work}/evil; "
            "git -C deep/b/c config core.worktree /tmp; git -C deep/b/c config core.bare false")
        self.assertIn("own.git can only be read here: it is a bare repository", said[0])
        self.assertIn("read-only", said[0])
        self.assertIn("deep/b/c is a bare repository", said[1])
        subprocess.run(["git", "status"], cwd=self.work / "deep/b/c", env=self.environment(),
                       capture_output=True, check=False)
        self.assertFalse(self.marker.exists())
        self.git("log", "--oneline", at=self.work / "own.git", code=128)  # no commits, but sound

    def test_a_damaged_git_directory_is_set_aside_and_made_anew(self):
        self.repository()
        self.write("work/damage", "rm -rf .git/objects .git/refs .git/HEAD\n")
        said = self.bash("sh damage",
                         "echo x >x; git add x; git commit -qm after && git log --format=%s -1")
        self.assertIn("nothing of", said[0])
        self.assertIn(".git was damaged by a command", said[1])
        self.assertIn("after\n", said[1])
        self.assertEqual(self.git("log", "--format=%s", "-1"), "after\n")
        self.check_sound()

    def test_a_filter_of_the_operators_is_refused_with_the_reason(self):
        self.repository()
        self.git("config", "filter.large.clean", "sed s/long/short/")
        self.git("config", "filter.large.smudge", "sed s/short/long/")
        (self.work / ".gitattributes").write_text("p filter=large\n")
        (self.work / "p").write_text("long\n")
        self.git("add", ".")
        self.git("commit", "-qm", "filtered")
        said = self.bash("git status --porcelain; echo longer >p; git add p",
                         "git commit -qm wrong p; git checkout -q HEAD~1; touch q; git add q; "
                         "git commit -qm plain")
        self.assertIn("The filter large does not run in the sandbox", said[0])
        self.assertEqual(self.git("log", "--format=%s", "-1"), "plain\n")
        self.assertEqual(self.git("show", "main:p"), "short\n")

    def test_a_submodule_is_committed_to_and_its_configuration_held(self):
        inner = self.directory / "inner"
        inner.mkdir()
        self.git("init", "-q", at=inner)
        self.git("commit", "-q", "--allow-empty", "-m", "inner", at=inner)
        self.repository()
        self.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner), "sub")
        self.git("commit", "-qm", "sub")
        config = self.work / ".git/modules/sub/config"
        before = config.read_text()
        said = self.bash(
            "set -e; cd sub; echo 1 >x; git add x; git commit -qm 'in sub'; "
            "git config core.fsmonitor /x; cd ..; git add sub; git commit -qm moved; "
            "git status --porcelain; git submodule status")
        self.assertNotIn("[git:", said[0])
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(self.git("log", "--format=%s", "-1", at=self.work / "sub"), "in sub\n")
        self.assertEqual(config.read_text(), before)
        self.check_sound()

    def test_a_git_directory_that_is_replaced_outside_ends_the_commands(self):
        self.repository()
        self.tools(call("bash", command="touch ready; sleep 60") +
                   call("bash", command="git log --format=%s -1"))
        run = self.start("run", "t.yaml", "go", "--id", "r")
        self.wait_for((self.work / "ready").exists, "the call")
        os.rename(self.work / ".git", self.directory / "old.git")
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "another")
        self.end(run, 0)
        said = self.outputs()
        self.assertIn(".git was replaced outside", said[0])
        self.assertNotIn("first", said[1])

    def killed(self, command, name):
        self.tools(call("bash", command=f"{command}; touch done; sleep 60"))
        run = self.start("run", "t.yaml", "go", "--id", name)
        self.wait_for((self.work / "done").exists, "the command")
        run.send_signal(signal.SIGKILL)
        run.communicate()

    def test_after_a_kill_the_doctor_takes_repositories_that_were_made(self):
        self.repository()
        self.killed(self.evil() + "git init -q new; "
                    f"git -C new config core.fsmonitor {self.work}/evil; "
                    "git init -q --bare bare; mkdir lead; echo gitdir: /x >lead/.git", "k")
        said = self.pawl("doctor").stdout
        self.assertIn("new/.git was made by a session that was killed", said)
        self.assertFalse((self.work / "bare/HEAD").exists())
        self.assertFalse((self.work / "lead/.git").exists())
        self.git("status", at=self.work / "new")
        self.assertFalse(self.marker.exists())

    def test_settings_of_the_operator_are_taken_in_between_calls(self):
        self.repository()
        self.tools(call("bash", command="touch ready; until [ -e go ]; do sleep 0.05; done") +
                   call("bash", command="git config remote.up.url; touch a.tmp; "
                                        "git status --porcelain"))
        run = self.start("run", "t.yaml", "go", "--id", "r")
        self.wait_for((self.work / "ready").exists, "the call")
        self.git("config", "remote.up.url", "https://up.example/x")
        (self.work / ".git/info/exclude").write_text("*.tmp\nready\ngo\n")
        (self.work / "go").touch()
        self.end(run, 0)
        self.assertEqual(self.outputs()[1], "https://up.example/x\n")


if __name__ == "__main__":
    main()
