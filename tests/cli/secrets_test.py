#!/usr/bin/env python3
"""Keys stay where they belong: in no log, error, argv, core or environment of a tool."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import signal
import stat
import threading

import canaries
from support import PATIENCE_S, Stage, main

MODEL = "anthropic/claude-sonnet-4-5"
KEY = "cnryKEY-of-anthropic-0123456789"
HEADER = "cnryHEADER/of+a/file-0123456789"
CHARTER = f"name: c\nmodel: {MODEL}\ninstructions: Go.\n"
TOOL = """tools:
  define:
    wait:
      description: Waits.
      command: [./wait.sh]
      effect: pure
      input: { type: object }
"""


WAITING = 8


@contextlib.contextmanager
def recording(upstream, used):
    """A server that notes the key of each request and passes it on."""
    host, port = upstream.removeprefix("http://").split(":")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            used.append(self.headers["x-api-key"])
            body = self.rfile.read(int(self.headers["content-length"]))
            connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_S)
            passed = {name: value for name, value in self.headers.items()
                      if name.lower() not in ("host", "content-length", "connection")}
            connection.request("POST", self.path, body, passed)
            answer = connection.getresponse()
            said = answer.read()
            connection.close()
            self.send_response(answer.status)
            self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Secrets(Stage):
    def setUp(self):
        super().setUp()
        self.variables = {}
        self.log = self.directory / "pawl.log"
        self.wanted = canaries.needles([KEY, HEADER])
        self.write("header.key", HEADER + "\n", 0o600)
        self.config = self.write(
            "config.yaml", "providers:\n  anthropic: { headers: { x-team: file:header.key } }\n")

    def environment(self):
        return {**super().environment(), **self.variables, "ANTHROPIC_API_KEY": KEY}

    def serve(self, script, *options):
        process = self.start("fake-provider", *options, "--script",
                             self.write("fake.yaml", script))
        url = process.stdout.readline().strip().rsplit(" ", 1)[1]
        self.variables["ANTHROPIC_BASE_URL"] = url
        return process

    def debugged(self, *words, code=0):
        return self.ok(*words, "--config", self.config, "--log-level", "debug", "--log-file",
                       self.log, code=code)

    def assert_clean(self, *texts):
        for text in texts:
            self.assertEqual(canaries.hits(text.encode(), self.wanted), set(), text)

    def test_a_provider_that_echoes_the_key_is_not_quoted(self):
        forms = [canaries.disguised(value, number) for value in (KEY, HEADER)
                 for number in range(11)]
        for number, form in enumerate(forms):
            message = json.dumps(f"Invalid credentials: Bearer {form}")
            process = self.serve(f"replies:\n  - error: {{ status: 401, message: {message} }}\n")
            charter = self.write("c.yaml", CHARTER)
            said = self.debugged("run", charter, "x", "--id", f"r{number}", code=3)
            events = self.ok("logs", f"r{number}", "--json").stdout
            shown = self.ok("show", f"r{number}").stdout
            self.assert_clean(said.stdout, said.stderr, events, shown)
            self.assertIn("Invalid credentials", events)
            process.kill()
            process.communicate()
        log = self.log.read_text()
        self.assertIn("POST", log)  # it did debug
        self.assert_clean(log)
        self.assertEqual(canaries.hits_below(self.data, self.wanted), {})

    def test_the_log_of_a_conversation_has_names_for_values(self):
        self.serve(f"replies:\n  - text: 'Your key is {KEY}.'\n    endless: true\n")
        said = self.debugged("chat", f"is {HEADER} mine?", "-m", MODEL)
        self.assert_clean(said.stdout, said.stderr, self.log.read_text())
        self.assertIn("[[pawl-secret:ANTHROPIC_API_KEY]]", self.log.read_text())
        self.assertIn("[[pawl-secret:header.key]]", self.log.read_text())

    def test_a_line_of_the_log_is_filtered_whoever_writes_it(self):
        """The command line itself names the data directory, which no other filter has seen."""
        self.charter("plain", "  - text: Done.\n")
        self.debugged("--data", self.directory / f"data-of-{KEY}", "run", "plain.yaml")
        log = self.log.read_text()
        self.assertIn("data-of-[[pawl-secret:ANTHROPIC_API_KEY]]", log)
        self.assert_clean(log)

    def test_no_argv_and_no_environment_of_a_tool_has_a_value(self):
        self.write("wait.sh", "#!/bin/sh\nenv >environment\necho $$ >pid\n"
                   "while [ ! -e gate ]; do sleep 0.02; done\n", 0o755)
        self.serve("replies:\n  - call: [{ tool: wait, input: {} }]\n  - text: Done.\n")
        charter = self.write("c.yaml", CHARTER + TOOL)
        run = self.start("run", charter, "x", "--id", "r", "--config", self.config)
        pid = self.directory / "pid"
        self.wait_for(lambda: pid.exists() and pid.read_text().strip(), "the tool")
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                self.assertEqual(
                    canaries.hits((process / "cmdline").read_bytes(), self.wanted), set())
            except OSError:
                pass  # It is gone.
        environ = pathlib.Path("/proc") / pid.read_text().strip() / "environ"
        self.assert_clean(environ.read_bytes().decode())
        self.assert_clean((self.directory / "environment").read_text())
        self.open_gate()
        self.end(run, 0)

    def test_a_value_that_a_cut_would_halve_is_hidden_first(self):
        self.write("value", KEY)
        tools = "".join(f"    leak{code}: {{ command: [./leak.sh, \"{code}\"], output_max: 200 }}\n"
                        for code in (0, 1))
        for cut in range(0, len(KEY), 5):
            self.write("leak.sh", f"#!/bin/sh\nprintf %0{65 - cut}d 1\ncat value; seq 1 100\n"
                       "cat value; printf %030d 1\nexit $1\n", 0o755)
            calls = "".join(f"  - call: [{{ tool: leak{code}, input: {{}} }}]\n" for code in (0, 1))
            charter = self.charter("l", calls + "  - text: Done.\n", tools)
            self.ok("run", charter, "--id", f"cut{cut}")
            said = json.dumps(self.events(f"cut{cut}"))
            self.assertIn("bytes cut", said)
            for length in range(6, len(KEY)):
                self.assertNotIn(KEY[:length], said)
                self.assertNotIn(KEY[-length:], said)

    def test_a_crash_leaves_no_core_and_says_nothing(self):
        self.serve(f"replies:\n  - text: 'Your key is {KEY}.'\n    delay: 30s\n    endless: true\n")
        charter = self.write("c.yaml", CHARTER)
        for number in (signal.SIGABRT, signal.SIGSEGV):
            run = self.start("run", charter, f"is {HEADER} mine?", "--config", self.config,
                             "--id", number.name.lower())
            self.wait_for(lambda: self.pawl("show", number.name.lower()).returncode == 0,
                          "the run")
            limits = pathlib.Path(f"/proc/{run.pid}/limits").read_text()
            self.assertRegex(limits, r"Max core file size +0 ")
            run.send_signal(number)
            out, err = run.communicate(timeout=30)
            self.assertNotEqual(run.returncode, 0)
            self.assert_clean(out, err)
            self.assertEqual([each.name for each in self.directory.glob("core*")], [])

    def test_files_are_private_whatever_the_umask(self):
        self.data = self.directory / "above/data"
        self.serve("replies:\n  - text: Done.\n    endless: true\n")
        charter = self.write("c.yaml", CHARTER)
        before = os.umask(0)
        try:
            self.debugged("run", charter, "x", "--id", "r")
            self.ok("run", "-d", charter, "x", "--id", "s")
            self.wait_for(lambda: self.status("s") == "done", "the end")
            self.ok("export", "r", "-o", self.directory / "above/r.export")
        finally:
            os.umask(before)
        seen = 0
        for path in [self.log, *(self.directory / "above").rglob("*"), self.directory / "above"]:
            mode = stat.S_IMODE(path.stat().st_mode)
            self.assertEqual(mode, 0o700 if path.is_dir() else 0o600, path)
            seen += 1
        self.assertGreater(seen, 5)

    def test_a_key_that_is_a_word_is_warned_about_and_shreds_nothing(self):
        self.serve("replies:\n  - text: This is a test.\n    endless: true\n")
        self.variables["OPENAI_API_KEY"] = "test"
        said = self.debugged("chat", "hi", "-m", MODEL)
        self.assertIn("This is a test.", said.stdout)
        self.assertIn("OPENAI_API_KEY: it is too short", self.log.read_text())

    def test_a_key_that_changes_is_used_and_both_are_kept_out(self):
        first, second = "cnryFIRST-value-0123456789", "cnrySECOND-value-0123456789"
        path = self.write("own.key", first, 0o600)
        self.write("config.yaml", "providers:\n  anthropic: { key: file:own.key }\n")
        self.write("change.sh", f"#!/bin/sh\nprintf %s {second} >own.key\necho changed\n", 0o755)
        self.serve("replies:\n  - call: [{ tool: wait, input: {} }]\n"
                   f"  - error: {{ status: 401, message: 'not {second} and not {first}' }}\n")
        charter = self.write("c.yaml", CHARTER + TOOL.replace("wait.sh", "change.sh"))
        said = self.debugged("run", charter, "x", "--id", "r", code=3)
        self.assertEqual(path.read_text(), second)
        wanted = canaries.needles([first, second])
        events = self.ok("logs", "r", "--json").stdout
        for text in (said.stdout, said.stderr, events, self.log.read_text()):
            self.assertEqual(canaries.hits(text.encode(), wanted), set(), text)
        self.assertEqual(canaries.hits_below(self.data, wanted), {})

    def test_what_people_say_about_calls_is_filtered(self):
        self.write("wait.sh", "#!/bin/sh\ncat >>got\n", 0o755)
        one = "  - call: [{ tool: wait, input: { note: 'x' } }]\n"
        echo = "  - call: [{ tool: wait, input: { note: " + json.dumps(KEY) + " } }]\n"
        self.serve("replies:\n" + one + one + echo + "  - text: Done.\n")
        charter = self.write("c.yaml", CHARTER + TOOL.replace("tools:", "tools:\n  ask: [wait]"))
        shown = [self.debugged("run", charter, "x", "--id", "r", code=4)]
        for words in (["deny", "r", "--reason", f"not with {KEY}"],
                      ["approve", "r", "--edit", json.dumps({"note": KEY})],
                      ["approve", "r", "--always"]):
            shown.append(self.debugged("approvals", "--full"))
            shown.append(self.debugged(*words))
            shown.append(self.pawl("resume", "r", "--config", self.config))
        self.assertEqual(self.status("r"), "done")
        self.assertEqual((self.directory / "got").read_text().count("[[pawl-secret:"), 2)
        for said in shown:
            self.assert_clean(said.stdout, said.stderr)
        for words in (["logs", "r", "--json"], ["explain", "r"], ["approvals", "--remembered"]):
            self.assert_clean(self.ok(*words).stdout)
        self.assert_clean(self.log.read_text())
        self.assertEqual(canaries.hits_below(self.data, self.wanted), {})

    def test_runs_that_waited_use_the_key_that_is_there_then(self):
        first, second = "cnryFIRST-value-0123456789", "cnrySECOND-value-0123456789"
        path = self.write("own.key", first, 0o600)
        self.write("config.yaml", "providers:\n  anthropic: { key: file:own.key }\n")
        self.write("wait.sh", "#!/bin/sh\necho ok\n", 0o755)
        script = "replies:\n  - call: [{ tool: wait, input: {} }]\n  - text: Done.\n"
        charter = self.write("c.yaml", CHARTER + TOOL.replace("tools:", "tools:\n  ask: [wait]"))
        used = []
        for number in range(WAITING):
            self.serve(script)
            with recording(self.variables["ANTHROPIC_BASE_URL"], used) as url:
                self.variables["ANTHROPIC_BASE_URL"] = url
                self.debugged("run", charter, "x", "--id", f"r{number}", code=4)
        self.assertEqual(set(used), {first})
        path.write_text(second)
        used.clear()
        self.serve("replies:\n  - text: Done.\n    endless: true\n")
        with recording(self.variables["ANTHROPIC_BASE_URL"], used) as url:
            self.variables["ANTHROPIC_BASE_URL"] = url
            for number in range(WAITING):
                self.ok("approve", f"r{number}", "c1")
                self.debugged("resume", f"r{number}")
        self.assertEqual(used, [second] * WAITING)
        wanted = canaries.needles([first, second])
        self.assertEqual(canaries.hits(self.log.read_bytes(), wanted), set())
        self.assertEqual(canaries.hits_below(self.data, wanted), {})

    def test_what_looks_at_the_set_up_shows_no_value(self):
        self.serve("replies:\n  - text: Done.\n    endless: true\n")
        for words in (["doctor"], ["doctor", "--json"], ["doctor", "--live"], ["models"],
                      ["models", "--json"]):
            said = self.pawl(*words, "--config", self.config)
            self.assertNotEqual(said.returncode, 2, said.stderr)
            self.assert_clean(said.stdout, said.stderr)


if __name__ == "__main__":
    main()
