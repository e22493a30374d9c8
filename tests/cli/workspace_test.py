#!/usr/bin/env python3
"""The boundary of the work tree: homes, links, protected names, and no trace of Pawl in it."""

import os
import signal
import subprocess

from sandbox_test import SandboxStage, call
from support import TIME_SCALE, main


def replace(path, text):
    """As an editor saves."""
    new = path.with_name(path.name + ".editor~")
    new.write_text(text)
    new.rename(path)


class WorkspaceStage(SandboxStage):
    def repository(self):
        work = self.directory / "work"
        work.mkdir(exist_ok=True)
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        return work

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=U", "-c", "user.email=u@example.org",
                               *words], cwd=self.directory / "work", check=True, text=True,
                              capture_output=True).stdout

    def status(self):
        return self.git("status", "--porcelain", "--ignored")

    def taken(self):
        return sorted(path.name for path in (self.data / "taken").glob("*/*/*"))

    def start_tools(self, replies, **how):
        return self.start("run", self.tools(replies, **how), "go", "--id", "r")

    def kill_after(self, command):
        """The command is done while Pawl is stopped, so that it takes nothing before the kill."""
        run = self.start_tools(call("bash", command="touch begun; until [ -e go ]; do sleep 0.05; "
                                    f"done; rm begun go; {command}; touch made; sleep 60"))
        self.await_file("begun")
        run.send_signal(signal.SIGSTOP)
        (self.directory / "work/go").touch()
        self.await_file("made")
        run.send_signal(signal.SIGKILL)
        run.wait()

    def await_file(self, name):
        self.wait_for(lambda: (self.directory / "work" / name).exists(), name)


class NoTrace(WorkspaceStage):
    def test_no_name_of_pawls_appears_in_the_work_tree(self):
        self.repository()
        run = self.start_tools(call("bash", command="touch begun; until [ -e go ]; do sleep 0.05; "
                                    "done; rm begun go; git status --porcelain; ls -A") +
                               call("exec", argv=["true"]))
        self.await_file("begun")
        seen = set()
        for _ in range(20):
            seen |= set(os.listdir(self.directory / "work"))
        self.assertEqual(seen, {".git", "begun"})
        (self.directory / "work/go").touch()
        self.end(run, 0)
        self.assertEqual(self.status(), "")

    def test_what_is_made_under_a_protected_name_is_taken_and_told(self):
        work = self.repository()
        text = self.run_tools(call("bash", command="echo evil >.envrc; mkdir -p .config/fish; "
                                   "echo evil >.config/fish/config.fish; mkdir -p a/b; "
                                   "echo evil >a/b/.mcp.json; echo evil >x; ln x .bashrc") +
                              call("bash", command="rm x; rmdir -p a/b; ls -A"))
        self.assertEqual(os.listdir(work), [".git"])
        self.assertEqual(self.status(), "")
        self.assertIn(".envrc is a protected name: it was moved to", text)
        self.assertEqual(self.taken(), [".bashrc", ".config", ".envrc", ".mcp.json"])
        self.ok("rm", "r")
        self.assertEqual(self.taken(), [])

    def test_what_the_host_would_run_is_taken_while_the_call_still_runs(self):
        work = self.repository()
        run = self.start_tools(call("bash", command="echo evil >.envrc; touch made; "
                                    "until [ -e go ]; do sleep 0.05; done; rm made go; echo on"))
        self.await_file("made")
        self.wait_for(lambda: not (work / ".envrc").exists(), "the name to be taken")
        self.assertTrue((work / "made").exists())  # the call runs on
        (work / "go").touch()
        self.end(run, 0)
        self.assertEqual(self.taken(), [".envrc"])
        self.assertIn("on", str(self.events("r")))
        self.assertIn(".envrc is a protected name: it was moved to", str(self.events("r")))

    def test_after_kill_9_the_next_session_takes_what_was_made(self):
        work = self.repository()
        self.kill_after("echo evil >.envrc")
        self.assertEqual(sorted(os.listdir(work)), [".envrc", ".git", "made"])
        said = self.pawl("run", self.tools(call("exec", argv=["rm", "made"])), "go", "--id", "s")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("left by a session that was killed", said.stderr)
        self.assertEqual(self.status(), "")
        self.assertEqual(self.taken(), [".envrc"])

    def test_after_kill_9_a_nested_name_is_taken_and_one_from_before_stays(self):
        work = self.repository()
        (work / "old").mkdir()
        (work / "old/.envrc").write_text("mine\n")
        self.kill_after("mkdir -p a/b; echo evil >a/b/.envrc; echo {} >a/.mcp.json")
        said = self.pawl("run", self.tools(call("exec", argv=["rm", "made"])), "go", "--id", "s")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("a/b/.envrc is a protected name: it was moved to", said.stderr)
        self.assertEqual(self.taken(), [".envrc", ".mcp.json"])
        self.assertEqual(os.listdir(work / "a/b"), [])
        self.assertEqual((work / "old/.envrc").read_text(), "mine\n")

    def test_after_kill_9_the_doctor_takes_what_was_made(self):
        work = self.repository()
        self.kill_after("mkdir -p .pawl a; echo evil >a/.envrc")
        said = self.pawl("doctor").stdout
        self.assertIn(".pawl is a protected name", said)
        self.assertIn("a/.envrc is a protected name", said)
        self.assertEqual(sorted(os.listdir(work)), [".git", "a", "made"])
        self.assertNotIn(".pawl is a protected name", self.pawl("doctor").stdout)


class Beside(WorkspaceStage):
    """An operator at work beside a hostile agent."""

    HOSTILE = ("touch begun; while :; do echo evil 2>/dev/null >>.envrc; "
               "echo evil 2>/dev/null >>.bashrc; done")

    def hostile(self, save):
        work = self.repository()
        for name in (".envrc", ".bashrc"):
            (work / name).write_text("mine\n")
        run = self.start_tools(call("bash", command=self.HOSTILE) +
                               call("bash", command="echo evil >>.envrc; echo evil >>.bashrc"),
                               sandbox="{ write: [work], directory: work, "
                               f"time: {20 * TIME_SCALE}s }}")
        self.await_file("begun")
        save(work)
        _, err = self.end(run, 0)
        return work, err

    def test_an_editor_that_saves_by_rename(self):
        work, err = self.hostile(lambda work: replace(work / ".envrc", "saved\n"))
        self.assertEqual((work / ".bashrc").read_text(), "mine\n")
        if (work / ".envrc").read_text() != "saved\n":
            self.assertIn("it may hold what the agent wrote", err)
        self.assertIn(".envrc was replaced outside", str(self.events("r")))

    def test_sed_in_place(self):
        work, err = self.hostile(lambda work: subprocess.run(
            ["sed", "-i", "s/mine/changed/", ".bashrc"], cwd=work, check=True))
        self.assertEqual((work / ".envrc").read_text(), "mine\n")
        if (work / ".bashrc").read_text() != "changed\n":
            self.assertIn("it may hold what the agent wrote", err)

    def test_a_write_in_place_keeps_the_mount(self):
        work = self.repository()
        (work / ".envrc").write_text("old\n")
        run = self.start_tools(call("bash", command="touch begun; until grep -q new .envrc; do "
                                    "sleep 0.02; done; echo evil >>.envrc || echo held"))
        self.await_file("begun")
        (work / ".envrc").write_text("new\n")
        self.end(run, 0)
        self.assertEqual((work / ".envrc").read_text(), "new\n")
        self.assertIn("held", str(self.events("r")))


class OwnState(WorkspaceStage):
    def test_pawls_own_directories_beneath_a_root_are_hidden(self):
        work = self.repository()
        self.data = work / "data"
        state = work / ".config/pawl"
        state.mkdir(parents=True)
        (state / "identity.pem").write_text("private-key-7731\n")
        text = self.run_tools(
            call("bash", command="ls data .config/pawl; cat .config/pawl/identity.pem; "
                 "head -c 20 data/pawl.db; touch data/x; git -c user.name=U -c user.email=u@x "
                 "commit -q --allow-empty -m in; "
                 "echo begun") +
            call("view", path="data/pawl.mark") + call("view", path=".config/pawl/identity.pem"))
        self.assertIn("begun", text)
        self.assertNotIn("SQLite", text)
        self.assertNotIn("private-key-7731", text.split("tool_finished", 1)[1])
        self.assertFalse((self.data / "x").exists())
        self.assertIn("in", self.git("log", "--format=%s", "-1"))


class Homes(WorkspaceStage):
    def laptop(self):
        home = self.directory / "home"
        for path in (".ssh/id_ed25519", ".gnupg/key", ".aws/credentials", ".kube/config",
                     ".docker/config.json", ".config/gh/hosts.yml", ".netrc", ".bash_history",
                     ".local/share/keyrings/login.keyring", ".git-credentials"):
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_text("canary9")
        for path in (".bashrc", ".profile", ".gitconfig", ".config/fish/config.fish"):
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_text("mine\n")
        return home

    def in_home(self, sandbox, replies):
        home = self.laptop()
        (home / "t.script.yaml").write_text("replies:\n" + replies + "  - text: Done.\n")
        (home / "t.yaml").write_text("name: t\nmodels: { main: scripted/t.script.yaml }\n" +
                                     sandbox + "tools: { use: [bash, view, grep, create_file] }\n"
                                     "instructions: Go.\n")
        environment = {**self.environment(), "HOME": str(home)}
        self.environment = lambda: environment
        return home

    def test_a_charter_in_a_home_is_refused_with_the_line_to_write(self):
        home = self.in_home("", call("bash", command="cat .ssh/id_ed25519"))
        for command in (("validate", home / "t.yaml"), ("run", home / "t.yaml", "go")):
            said = self.pawl(*command)
            self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
            self.assertIn(f"write: [{home}/work]", said.stdout + said.stderr)

    def test_secrets_and_start_up_files_are_held_where_home_is_named(self):
        home = self.in_home("sandbox: { write: [.] }\n", call(
            "bash", command="cat .ssh/* .aws/* .netrc .docker/* .config/gh/* .bash_history; "
            "grep -r '[c]anary9' .; for f in .bashrc .profile .gitconfig .config/fish/config.fish "
            ".zshrc .ssh/authorized_keys; do echo evil >>$f; done") +
            call("view", path=".ssh/id_ed25519") + call("grep", pattern="[c]anary9", path=".") +
            call("view", path=".netrc") +
            call("create_file", path=".gitconfig", file_text="evil", overwrite=True) +
            call("grep", pattern="nothing", path=".") +  # three errors in a row end a run
            call("create_file", path=".config/fish/x", file_text="evil") +
            call("create_file", path=".ssh/authorized_keys", file_text="evil"))
        said = self.pawl("run", home / "t.yaml", "go", "--id", "r")
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.assertNotIn("canary9", str(self.events("r")).replace("[c]anary9", ""))
        for path in (".bashrc", ".profile", ".gitconfig", ".config/fish/config.fish"):
            self.assertEqual((home / path).read_text(), "mine\n")
        self.assertFalse((home / ".zshrc").exists())
        self.assertFalse((home / ".config/fish/x").exists())
        self.assertFalse((home / ".ssh/authorized_keys").exists())


class Roots(WorkspaceStage):
    def test_a_link_that_another_charter_planted_is_refused(self):
        shared = self.directory / "work"
        self.run_tools(call("bash", command="mkdir mine; ln -s /etc planted"))
        self.assertTrue((shared / "planted").is_symlink())
        for root in ("work/planted", str(shared / "planted")):
            self.tools(call("bash", command="touch here"),
                       sandbox=f"{{ write: [{root}], directory: {root} }}")
            for command in (("validate", "t.yaml"), ("run", "t.yaml", "go")):
                said = self.pawl(*command)
                self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
                self.assertIn("planted is a symbolic link", said.stdout + said.stderr)
                self.assertIn("t.yaml:", said.stdout + said.stderr)

    def test_a_protected_name_that_is_a_link_is_refused_at_the_start(self):
        work = self.directory / "work"
        for made in (work, self.directory / "dotfiles"):
            made.mkdir()
        (self.directory / "dotfiles/envrc").write_text("mine\n")
        (work / ".envrc").symlink_to("../dotfiles/envrc")
        self.tools(call("bash", command="touch here"))
        for command in (("validate", "t.yaml"), ("run", "t.yaml", "go")):
            said = self.pawl(*command)
            self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
            self.assertIn(".envrc: it is a symbolic link", said.stdout + said.stderr)
            self.assertIn("t.yaml:", said.stdout + said.stderr)
        (work / "code").mkdir()
        self.tools(call("bash", command="touch here"), sandbox="{ write: [work/code], "
                   "directory: work/code, read: [work] }")
        self.ok("run", "t.yaml", "go")

    def test_a_charter_typed_through_a_link_runs(self):
        self.tools(call("bash", command="touch here"))
        (self.directory / "link").symlink_to(self.directory)
        self.ok("run", "link/t.yaml", "go")
        self.assertTrue((self.directory / "work/here").exists())

    def test_roots_that_no_call_could_use_are_refused_at_the_start(self):
        for sandbox, says in (("{ write: [work], directory: . }", "beneath none of the roots"),
                              ("{ write: [/] }", "the whole machine"),
                              ("{ write: [work/absent], directory: work/absent }", "create it"),
                              ("{ write: [/etc], directory: /etc }", "directory of the system"),
                              ("{ write: [work], directory: work, deny: [/usr] }", "no root")):
            self.tools(call("bash", command="true"), sandbox=sandbox)
            for command in (("validate", "t.yaml"), ("run", "t.yaml", "go")):
                said = self.pawl(*command)
                self.assertEqual(said.returncode, 2, sandbox + said.stdout + said.stderr)
                self.assertIn(says, said.stdout + said.stderr)

    def test_read_write_and_deny_nest(self):
        for path in ("work/ref/out", "work/private/open"):
            (self.directory / path).mkdir(parents=True)
        for path in ("work/ref/f", "work/private/f", "work/private/open/f"):
            (self.directory / path).write_text("canary " + path)
        text = self.run_tools(
            call("bash", command="echo x >ref/f; echo x >ref/out/g; cat private/f; "
                 "cat private/open/f; grep -rl canary .") + call("view", path="private/f") +
            call("grep", pattern="canary", path="."),
            sandbox="{ write: [work, work/ref/out, work/private/open], read: [work/ref], "
            "deny: [work/private], directory: work }")
        self.assertNotIn("canary work/private/f", text)
        self.assertIn("canary work/private/open/f", text)
        self.assertEqual((self.directory / "work/ref/f").read_text(), "canary work/ref/f")
        self.assertTrue((self.directory / "work/ref/out/g").exists())


if __name__ == "__main__":
    main()
