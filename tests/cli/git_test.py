#!/usr/bin/env python3
"""Git in the sandbox: commands have a git directory of their own, commits are published."""

import json
import signal
import subprocess
import unittest

from sandbox_test import SandboxStage, call
from support import PATIENCE_S, main

NAME, MAIL = "Ada Operator", "ada@example.org"


class GitStage(SandboxStage):
    def setUp(self):
        super().setUp()
        (self.directory / ".gitconfig").write_text(
            f"[user]\n\tname = {NAME}\n\temail = {MAIL}\n[init]\n\tdefaultBranch = main\n")
        self.work = self.directory / "work"
        self.work.mkdir()

    def git(self, *words, at=None, code=0):
        said = subprocess.run(["git", *words], cwd=at or self.work, env=self.environment(),
                              capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        self.assertEqual(said.returncode, code, f"git {words}\n{said.stdout}\n{said.stderr}")
        return said.stdout

    def repository(self):
        self.git("init", "-q")
        for name in ("a", "b"):
            (self.work / name).write_text(f"{name}\n")
        self.git("add", ".")
        self.git("commit", "-qm", "first")

    def outputs(self, run="r"):
        """What each call of a run has printed, with what Pawl says of its own."""
        return [json.loads(event["content"])["output"] for event in self.events(run)
                if event["type"] == "tool_finished"]

    def bash(self, *texts, **how):
        """A run whose model makes these calls, one after the other."""
        self.run_tools("".join(call("bash", command=text) for text in texts), **how)
        return self.outputs()

    def check_sound(self):
        self.git("fsck", "--strict", "--no-dangling")
        self.assertEqual(list((self.data / "git").glob("*/*/private")), [],
                         "a private directory is left")


STATUS = ("; echo INSIDE; git status --porcelain=v1 -b; git log --format=%H -1; "
          "git stash list | wc -l")


class Git(GitStage):
    def agree(self, output):
        """The last status inside is that of the host."""
        outside = (self.git("status", "--porcelain=v1", "-b") + self.git("log", "--format=%H", "-1")
                   + f"{len(self.git('stash', 'list').splitlines())}\n")
        inside = output.split("INSIDE\n")[-1].split("[git:")[0]
        self.assertEqual(inside, outside)

    def test_commits_branches_merges_and_rebases_are_published(self):
        self.repository()
        said = self.bash(
            "set -e; echo 1 >c; git add c; git commit -qm 'two'; git log --format='%an <%ae>' -1",
            "set -e; git switch -qc topic; echo 2 >>c; git commit -qam 'on topic'; "
            "git switch -q main; echo 3 >>c; git commit -qam 'on main'",
            "set +e; git merge topic; git status | head -3",
            "set -e; printf '1\\n2\\n3\\n' >c; git add c; git commit -qm merged",
            "set -e; git switch -qc more topic; echo x >d; git add d; git commit -qm d; "
            "git rebase -q main; git switch -q main; git merge -q --ff-only more",
            "set -e; echo y >>d; git stash -q; git stash list",
            "set -e; git stash pop -q; git commit -qam 'amend me'; "
            "git commit -q --amend -m amended",
            "set -e; git tag v1; git branch -d more; rm b; echo staged >e; git add e" + STATUS)
        self.assertIn(f"{NAME} <{MAIL}>", said[0])
        self.assertIn("CONFLICT", said[2])
        for output in said:
            self.assertNotIn("[git:", output)
        self.agree(said[-1])
        self.assertEqual(self.git("branch", "--format=%(refname:short)"), "main\ntopic\n")
        self.assertEqual(self.git("log", "--format=%s", "-1"), "amended\n")
        self.assertEqual(self.git("tag"), "v1\n")
        self.assertEqual(self.git("status", "--porcelain"), " D b\nA  e\n")
        self.check_sound()

    def test_work_trees_and_repositories_that_commands_make_are_kept(self):
        self.repository()
        said = self.bash(
            "git worktree add -q tree && cd tree && echo t >t && git add t && "
            "git commit -qm 'in tree'",
            "git status --porcelain -b && git log --format=%s -1",
            "cd ..; git worktree remove tree && git merge -q tree",
            "git init -q made && cd made && git config alias.x '!id' && echo 1 >x && git add x && "
            "git commit -qm made && git config core.fsmonitor ./evil && mkdir -p .git/hooks && "
            "printf '#!/bin/sh\\n' >.git/hooks/pre-commit",
            "cd made && echo 2 >>x && git commit -qam more && git log --format=%s",
            "mkdir leads && echo 'gitdir: /elsewhere' >leads/.git")
        self.assertIn("in tree", said[1])
        self.assertIn("is a new repository: it was kept", said[3])
        self.assertIn("more\nmade\n", said[4])
        self.assertIn("leads/.git is not a repository", said[5])
        self.assertFalse((self.work / "leads/.git").exists())
        self.assertEqual(self.git("log", "--format=%s", "-1"), "in tree\n")
        made = self.work / "made"
        self.assertEqual(self.git("log", "--format=%s", at=made), "more\nmade\n")
        self.assertEqual(self.git("status", "--porcelain", at=made), "")
        self.git("config", "core.fsmonitor", at=made, code=1)
        self.assertFalse((made / ".git/hooks").exists())

    def test_a_branch_that_the_operator_moves_meanwhile_is_said_and_published_after_a_merge(self):
        self.repository()
        self.tools(call("bash", command="touch ready; until [ -e go ]; do sleep 0.05; done; "
                                        "echo o >o; "
                                        "git add o; git commit -qm ours") +
                   call("bash", command="git add h ready go; git commit -qm both; "
                                        "git merge -q -m joined host/main"))
        run = self.start("run", "t.yaml", "go", "--id", "r")
        self.wait_for((self.work / "ready").exists, "the call")
        (self.work / "h").write_text("h\n")
        self.git("add", "h")
        self.git("commit", "-qm", "theirs")
        (self.work / "go").touch()
        self.end(run, 0)
        said = self.outputs()
        self.assertIn("main was moved outside", said[0])
        self.assertNotIn("[git:", said[1])
        self.assertEqual(self.git("log", "--format=%s", "--first-parent"),
                         "joined\nboth\nours\nfirst\n")
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.check_sound()

    def test_after_a_kill_the_next_session_publishes(self):
        self.repository()
        self.tools(call("bash", command="echo o >o; git add o; git commit -qm lost; touch done; "
                                        "sleep 60"))
        run = self.start("run", "t.yaml", "go", "--id", "killed")
        self.wait_for((self.work / "done").exists, "the commit")
        self.assertEqual(self.git("log", "--format=%s", "-1"), "first\n")
        run.send_signal(signal.SIGKILL)
        run.communicate()
        self.assertIn("has left commits", self.pawl("doctor").stdout)
        said = self.bash("rm done; git log --format=%s -1")
        self.assertIn("lost", said[0])
        self.assertEqual(self.git("log", "--format=%s", "-1"), "lost\n")
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.check_sound()

    def test_a_linked_work_tree_is_followed_and_other_work_trees_keep_their_branches(self):
        outer = self.directory / "outer"
        outer.mkdir()
        self.git("init", "-q", at=outer)
        (outer / "a").write_text("a\n")
        self.git("add", ".", at=outer)
        self.git("commit", "-qm", "first", at=outer)
        self.work.rmdir()
        self.git("worktree", "add", "-q", str(self.work), at=outer)
        said = self.bash(
            "set -e; echo 1 >b; git add b; git commit -qm two" + STATUS,
            "git branch -f main work; git config core.bare true; ls -a")
        self.assertIn("is checked out in another work tree outside", said[1])
        self.agree(said[0])
        self.assertEqual(self.git("log", "--format=%s"), "two\nfirst\n")
        self.assertEqual(self.git("log", "--format=%s", at=outer), "first\n")
        self.assertEqual(self.git("status", "--porcelain", at=outer), "")

    def test_a_layout_that_is_not_known_can_only_be_read(self):
        self.repository()
        self.git("config", "extensions.partialClone", "origin")
        self.git("config", "remote.origin.promisor", "true")
        said = self.bash("git log --format=%s -1; echo x >x; git add x")
        self.assertIn("can only be read here: it has the setting", said[0])
        self.assertIn("first", said[0])
        self.assertEqual(self.git("status", "--porcelain"), "?? x\n")


EVIL = r"""
cd {work}
printf '#!/bin/sh\ntouch {marker}\n' >evil; chmod +x evil
e={work}/evil
plant() {{
  for k in core.fsmonitor core.sshCommand core.pager core.editor diff.external alias.status \
      filter.x.clean filter.x.smudge filter.x.process diff.x.textconv diff.x.command \
      merge.x.driver gpg.program core.alternateRefsCommand uploadpack.packObjectsHook; do
    git -C $1 config $k $e
  done
  git -C $1 config core.hooksPath {work}/hooks
  git -C $1 config include.path {work}/included
}}
mkdir -p hooks
for h in pre-commit post-commit post-checkout post-index-change reference-transaction \
    pre-auto-gc post-merge fsmonitor-watchman; do cp evil hooks/$h; done
printf '[core]\n\tfsmonitor = %s\n' $e >included
echo '* filter=x diff=x merge=x' >.gitattributes
plant .
mkdir -p .git/info .git/worktrees/w .git/modules/m
cp .gitattributes .git/info/attributes
cp hooks/* .git/hooks/ 2>/dev/null
echo {work}/fake >>.git/objects/info/alternates
echo ../fake >.git/commondir; rm .git/commondir
mkdir -p .git/rebase-merge; echo "exec $e" >.git/rebase-merge/git-rebase-todo
rm -r .git/rebase-merge
echo x >>a; git -c filter.x.clean=cat -c filter.x.smudge=cat -c core.fsmonitor=false \
  -c core.hooksPath=/dev/null -c filter.x.process= commit -qam evil
git -c core.fsmonitor=false update-ref refs/replace/$(git rev-parse HEAD) $(git rev-parse HEAD~1)
git -c core.fsmonitor=false update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub
git init -q sub; plant sub; mkdir -p sub/.git/hooks; cp hooks/* sub/.git/hooks/
ln -s /etc/passwd .git/refs/heads/link
printf '%s\n' $(git rev-parse HEAD) >'.git/refs/heads/a..b'
head -c 200000 /dev/zero >.git/refs/heads/large
blob=$(git hash-object -w evil)
tree=$(printf '100755 blob %s\tconfig\n' $blob | git mktree)
tree=$(printf '040000 tree %s\t.git\n' $tree | git mktree)
git update-ref refs/heads/dotgit $(git commit-tree -m x $tree)
printf 'gitdir: {work}/sub/.git\n' >named; mkdir -p deep/er; cp named deep/er/.git
:
"""


class Hostile(GitStage):
    def test_an_operators_git_runs_nothing_that_a_command_has_planted(self):
        self.repository()
        marker = self.directory / "MARKER"  # where no command of the sandbox can write
        self.write("work/plant.sh", EVIL.format(work=self.work, marker=marker))
        again = "(while :; do bash plant.sh; done) >/dev/null 2>&1 & sleep 1"
        self.tools("".join(call("bash", command=f"bash plant.sh; sleep 1; : {i}")
                           for i in range(2)) + call("bash", command=again))
        run = self.start("run", "t.yaml", "go", "--id", "r")
        rounds = 0
        while run.poll() is None or rounds < 3:
            rounds += 1
            for words in (["status"], ["diff"], ["log", "-p", "-2"], ["gc", "-q"],
                          ["commit", "--allow-empty", "-qm", "operator"], ["status", "sub"]):
                subprocess.run(["git", *words], cwd=self.work, env=self.environment(),
                               capture_output=True, check=False, timeout=PATIENCE_S)
        self.end(run, 0)
        text = json.dumps(self.outputs())
        self.assertFalse(marker.exists(), text)
        self.git("fsck", "--no-dangling")
        branches = self.git("branch", "--format=%(refname:short)").split()
        self.assertNotIn("dotgit", branches)
        self.assertNotIn("large", branches)
        self.assertEqual(self.git("for-each-ref", "refs/replace"), "")
        self.assertEqual(self.git("config", "--local", "--get-regexp", "fsmonitor|filter|hooks",
                                  code=1), "")


if __name__ == "__main__":
    main()
