#!/usr/bin/env python3
"""Budgets: of a run in tokens, of a tenant in windows, over processes, kills and restarts; and
turns that the host takes."""

import http.server
import json
import signal
import threading

from provider_stage import CALL_THEN_ANSWER, MODELS, ProviderStage
from support import Stage, json_lines, main

ANSWER = "  - text: Done.\n    usage: { input: 1000, output: 1000 }\n    endless: true\n"
TODAY = """    today:
      description: Tells the day.
      command: [./today.sh]
      effect: once
      input: { type: object }
"""


CALL = "  - call: [{ tool: today, input: { n: 1 } }]\n"


class Budgets(Stage):
    def configure(self, budget):
        path = self.directory / ".config/pawl"
        path.mkdir(parents=True, exist_ok=True)
        (path / "config.yaml").write_text(f"budget:\n{budget}")

    def tenant(self, name="default"):
        return json_lines(self.ok("budget", "--tenant", name, "--json").stdout)[0]

    def test_a_window_holds_runs_of_all_processes_until_it_is_raised(self):
        self.configure("  tenant: { per: 1h, tokens: 7000 }\n")
        charter = self.charter("c", ANSWER)
        for number in range(3):
            self.ok("run", charter, "--id", f"r{number}")
        self.assertEqual(self.tenant()["spent_tokens"], 6000)
        self.ok("run", charter, "--id", "r3")  # a short reply still fits; the script is longer
        held = self.ok("run", charter, "--id", "r4", code=4)
        self.assertNotIn("Done.", held.stdout)
        summary = self.summary("r4")
        self.assertEqual((summary["status"], summary["reason"]), ("waiting", "budget"))
        self.assertIn("--tenant default", self.ok("budget", "r4").stdout)
        self.ok("resume", "r4", code=4)  # nothing has changed
        self.ok("budget", "--tenant", "default", "--raise-tokens", "9000")
        self.ok("resume", "r4")
        kinds = [event["type"] for event in self.events("r4")]
        self.assertEqual(kinds.count("model_replied"), 1)
        self.ok("replay", "r4")
        # Another tenant has its own.
        self.ok("run", charter, "--id", "other", "--tenant", "acme")
        self.assertEqual(self.tenant("acme")["spent_tokens"], 2000)

    def test_of_a_tenant_without_windows_the_last_day_is_shown(self):
        said = self.ok("budget", "--tenant", "nobody")
        self.assertTrue(said.stdout.startswith("in the last day: 0.00 USD and 0 tokens"), said)
        self.assertNotIn("left", said.stdout)
        self.assertNotIn("left_tokens", self.tenant("nobody"))

    def test_runs_at_once_do_not_spend_the_same_tokens(self):
        self.configure("  tenant: { per: 1h, tokens: 1000 }\n")
        slow = "  - text: Done.\n    delay: 1s\n    usage: { input: 50, output: 256 }\n"
        charter = self.charter("c", slow, more="max_tokens: 256\n")
        runs = [self.start("run", charter, "--id", f"r{n}") for n in range(6)]
        codes = []
        for process in runs:
            process.communicate(timeout=60)
            codes.append(process.returncode)
        self.assertEqual(set(codes), {0, 4}, codes)
        self.assertLessEqual(self.tenant()["spent_tokens"], 1000)
        self.assertEqual(self.tenant()["spent_tokens"], 306 * codes.count(0))

    def test_a_killed_call_stays_charged(self):
        self.configure("  tenant: { per: 1h, tokens: 6000 }\n")
        slow = "  - text: Done.\n    delay: 1h\n"
        process = self.start("run", self.charter("c", slow), "--id", "r")
        self.wait_for(lambda: (self.data / "budget.db").exists()
                      and self.tenant()["spent_tokens"] > 4000, "the reservation")
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = self.tenant()["spent_tokens"]
        self.assertGreater(before, 4000)
        quick = self.charter("q", ANSWER)
        self.ok("run", quick, "--id", "q1")
        self.ok("run", quick, "--id", "q2", code=4)
        self.assertEqual(self.tenant()["spent_tokens"], before + 2000)

    def test_a_use_leaves_the_window_with_its_time(self):
        self.configure("  tenant: { per: 2s, tokens: 4500 }\n")
        charter = self.charter("c", "  - text: Done.\n    usage: { input: 10, output: 4400 }\n")
        self.ok("run", charter, "--id", "r0")
        self.ok("run", charter, "--id", "r1", code=4)
        self.wait_for(lambda: self.tenant()["spent_tokens"] == 0, "the window")
        self.ok("resume", "--due")
        self.assertEqual(self.status("r1"), "done")

    def test_an_older_ledger_that_is_put_back_is_refused_until_it_is_accepted(self):
        self.configure("  tenant: { per: 1h, tokens: 7000 }\n")
        charter = self.charter("c", ANSWER)
        self.ok("run", charter, "--id", "r0")
        older = (self.data / "budget.db").read_bytes()
        self.ok("run", charter, "--id", "r1")
        (self.data / "budget.db").write_bytes(older)
        self.refused("budget", "--tenant", "default", code=6, says="behind its mark")
        self.assertIn("behind its mark", self.ok("doctor", code=1).stdout)
        self.assertIn("accepted: budget.db is behind", self.ok("doctor", "--accept").stdout)
        self.assertEqual(self.tenant()["spent_tokens"], 2000)
        copy = self.directory / "copy"
        self.ok("backup", copy)
        (self.data / "budget.db").unlink()
        self.refused("budget", "--tenant", "default", code=6, says="budget.db is missing")
        self.ok("restore", copy)
        self.assertEqual(self.tenant()["spent_tokens"], 2000)

    def test_a_budget_of_tokens_makes_a_run_wait_without_a_repeat(self):
        self.write("today.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n", 0o755)
        replies = ("  - call: [{ tool: today, input: {} }]\n"
                   "    usage: { input: 900, output: 50 }\n  - text: Bye.\n")
        charter = self.charter("c", replies, TODAY, "budget: { tokens: 1300 }\n")
        self.ok("run", charter, "--id", "r", code=4)
        shown = json.loads(self.ok("budget", "r", "--json").stdout)
        self.assertEqual(shown["tokens"], {"spent": "950 tokens", "limit": "1300 tokens"})
        self.assertTrue(shown["waits"])
        self.refused("budget", "r", "--raise", "1.00", code=1, says="no bound on its cost")
        self.ok("budget", "r", "--raise-tokens", "9000")
        self.ok("resume", "r")
        self.assertEqual(len(self.keys()), 1)
        self.ok("replay", "r")

    def test_a_budget_of_time_makes_a_run_wait_until_it_is_raised(self):
        self.write("today.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n", 0o755)
        charter = self.charter("c", CALL + "    delay: 100ms\n  - text: Bye.\n", TODAY,
                               "budget: { time: 50ms }\n")
        self.ok("run", charter, "--id", "r", code=4)
        self.assertEqual(self.summary("r")["reason"], "budget")
        self.assertIn("--raise-time", self.ok("budget", "r").stdout)
        self.ok("resume", "r", code=4)  # nothing has changed
        self.refused("budget", "r", "--raise-time", "soon", code=2, says="--raise-time")
        self.refused("budget", "r", "--raise-tokens", "9000", code=1, says="tokens")
        self.ok("budget", "r", "--raise-time", "10m")
        self.assertIn("Bye.", self.ok("resume", "r").stdout)
        self.assertEqual(len(self.keys()), 1)
        self.ok("replay", "r")

    def test_time_of_a_tenant_holds_runs_until_it_is_raised(self):
        self.configure("  tenant: { per: 1h, time: 60s }\n")
        charter = self.charter("c", "  - text: Done.\n    delay: 100ms\n")
        self.ok("run", charter, "--id", "r0")
        self.assertGreaterEqual(self.tenant()["spent_ms"], 100)
        self.ok("run", charter, "--id", "r1", code=4)  # a call sets 60 s aside
        self.ok("budget", "--tenant", "default", "--raise-time", "10m")
        self.assertGreater(self.tenant()["left_ms"], 600_000)
        self.ok("resume", "r1")

    def test_tool_calls_are_limited_from_the_command_line(self):
        self.write("today.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n", 0o755)
        calls = "".join(CALL.replace("1", str(number)) for number in range(4))
        charter = self.charter("c", calls + "  - text: Bye.\n", TODAY)
        self.ok("run", charter, "--tool-calls", "2", "--id", "r", code=5)
        self.assertEqual((self.summary("r")["reason"], len(self.keys())), ("tool_calls", 2))
        self.assertIn("tool_calls", self.ok("explain", "r").stdout)
        self.ok("run", charter, "--tool-calls", "5")
        self.assertEqual(len(self.keys()), 2 + 4)

    def test_what_is_wrong_is_refused_with_its_line(self):
        charter = self.charter("c", ANSWER, more="budget: { tenant: { per: 1h, tokens: .nan } }\n")
        self.refused("run", charter, code=2, says="c.yaml:3:")
        self.configure("  tenant: { per: never, cost: 1 USD }\n")
        self.refused("run", self.charter("d", ANSWER), code=2, says="config.yaml:2:")
        self.configure("  tenant: []\n")
        self.refused("budget", code=2, says="--tenant")
        self.refused("budget", "--tenant", "a b", code=2, says="letters")

    def test_a_price_that_nobody_knows_is_refused_before_anybody_is_asked(self):
        providers = ("providers: { own: { dialect: openai_chat, key: none, "
                     "base_url: 'http://127.0.0.1:9' } }\n")
        text = "name: c\nmodel: own/x\ninstructions: Go.\n" + providers
        self.write("c.yaml", text + "limits: { cost: 1.00 USD }\n")
        self.refused("run", "c.yaml", code=2, says="unknown_price: allow")
        self.write("c.yaml", text)
        self.assertIn("price of own/x", self.pawl("run", "c.yaml", "--cost", "1.00").stderr)
        self.write("c.yaml", text + "limits: { cost: 1.00 USD }\nretry: { attempts: 1 }\n"
                   "budget: { unknown_price: allow }\n")
        self.ok("run", "c.yaml", code=3)  # nobody listens there


class Threshold(ProviderStage):
    """The first reply of CALL_THEN_ANSWER costs 0.00062175 USD."""

    def test_a_run_beyond_its_threshold_asks_before_the_next_request(self):
        for more in ("budget: { ask_cost: 0.0006 USD }\n",
                     "limits: { cost: 5.00 USD, ask_cost: 0.0006 USD }\n"):
            with self.subTest(more=more):
                server = self.serve(CALL_THEN_ANSWER)
                self.asks_once(more, f"r{len(more)}")
                self.serve_no_more(server)

    def asks_once(self, more, run):
        before = len(self.keys())
        self.ok("run", self.noting(MODELS[0], more), "Note milk.", "--id", run, code=4)
        self.assertEqual((len(self.requests()), len(self.keys()) - before), (1, 1))
        self.assertEqual(self.summary(run)["reason"], "budget")
        self.ok("resume", run, code=4)  # nobody has answered
        self.assertEqual(len(self.requests()), 1)
        self.assertIn("--raise 1.00", self.ok("budget", run).stdout)
        self.refused("resume", run, "--steps", "+5", code=1, says="only --cost +AMOUNT raises")
        self.refused("resume", run, "--cost", "1.00", code=1, says="only --cost +AMOUNT raises")
        self.assertIn("Noted: milk.", self.ok("resume", run, "--cost", "+1.00").stdout)
        self.assertEqual((len(self.requests()), len(self.keys()) - before), (2, 1))
        self.ok("replay", run)

    def test_a_run_below_its_threshold_asks_nobody(self):
        self.serve(CALL_THEN_ANSWER)
        charter = self.noting(MODELS[0], "budget: { ask_cost: 0.0007 USD }\n")
        self.ok("run", charter, "Note milk.", "--id", "r")
        self.assertEqual((len(self.requests()), len(self.keys())), (2, 1))


class External(Stage):
    def setUp(self):
        super().setUp()
        self.write("today.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\necho Monday\n", 0o755)

    def external(self, tools=""):
        self.write("e.yaml", f"name: e\nmodel: external\ntools:\n{tools}  define:\n{TODAY}"
                   "instructions: Go.\n")
        return "e.yaml"

    def test_a_host_takes_every_turn(self):
        self.ok("run", self.external(), "hi", "--id", "r", code=4)
        self.assertIn("stored", self.ok("push", "r", "--message", "Let me look.",
                                        "--call", "today={}").stdout)
        self.ok("resume", "r", code=4)  # the call has run, and the next turn is handed out
        self.assertEqual(len(self.keys()), 1)
        self.ok("push", "r", "--message", "It is Monday.")
        self.assertIn("It is Monday.", self.ok("resume", "r").stdout)
        events = self.events("r")
        self.assertEqual([e["type"] for e in events].count("external_turn_pushed"), 2)
        self.ok("replay", "r")
        self.ok("verify", "r")
        self.refused("push", "r", "--message", "more", code=1, says="over")

    def test_pushed_calls_pass_the_same_checks(self):
        self.ok("run", self.external("  deny: [today]\n"), "hi", "--id", "r", code=4)
        self.ok("push", "r", "--call", "today={}")
        self.ok("resume", "r", code=4)
        self.assertEqual(self.keys(), [])
        self.assertIn('"because": "denied"', json.dumps(self.events("r")))

    def test_what_is_no_turn_is_refused(self):
        self.ok("run", self.external(), "hi", "--id", "r", code=4)
        self.refused("push", "r", code=2, says="says something")
        self.refused("push", "r", "--call", "today", code=2, says="TOOL=JSON")
        self.refused("push", "r", "--call", "today=[1]", code=2, says="JSON object")
        # A tool that is not there, and input that does not fit, are the model's faults: it is told.
        self.ok("push", "r", "--call", "nothing={}")
        self.ok("resume", "r", code=4)
        self.assertEqual(self.keys(), [])


class Ollama(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer("application/json", b'{"models":[{"name":"tiny:1b"}]}')

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        chunk = {"choices": [{"index": 0, "delta": {"content": "Hello from here."},
                              "finish_reason": "stop"}]}
        text = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
        self.answer("text/event-stream", text.encode())


class Local(Stage):
    def environment(self):
        return {**super().environment(), "OLLAMA_HOST": f"127.0.0.1:{self.port}"}

    def test_a_local_server_answers_where_nothing_is_configured(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ollama)
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.write("c.yaml", "name: c\ninstructions: Go.\n")
        said = self.ok("run", "c.yaml", "hi", "--id", "r")
        self.assertIn("Hello from here.", said.stdout)
        self.assertIn("ollama/tiny:1b", said.stderr)

    def test_without_one_the_script_says_so(self):
        self.port = 1
        self.write("c.yaml", "name: c\ninstructions: Go.\n")
        said = self.ok("run", "c.yaml", "hi", "--id", "r")
        self.assertIn("no provider is configured", said.stderr)


if __name__ == "__main__":
    main()
