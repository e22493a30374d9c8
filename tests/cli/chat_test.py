#!/usr/bin/env python3
"""What options and aliases make of a request; chats as they come; whom doctor asks."""

import http.server
import os
import select
import signal
import threading
import time

from provider_stage import BYTES_OF_50_TOKENS, ENDLESS_TEXT, MODELS, WORD, ProviderStage
from support import PATIENCE_S, main

HELLO = "keys: off\nreplies:\n  - text: Hello.\n    endless: true\n"
CLAUDE = MODELS[0]
CACHED = {"cache_control": {"type": "ephemeral"}}


class Chats(ProviderStage):
    def body_of(self, *words):
        """The request that is made by these words, which are to succeed."""
        before = len(self.requests())
        self.ok(*words)
        made = self.requests()[before:]
        self.assertEqual(len(made), 1, words)
        return made[0]["body"]

    def test_a_chat_beyond_its_cap_is_cut(self):
        self.serve(ENDLESS_TEXT)
        for model in MODELS:
            with self.subTest(model=model):
                said = self.ok("chat", "x", "-m", model, "--max-tokens", "50")
                self.assertIn("cut off: more than the 50 tokens", said.stderr)
                self.assertLessEqual(len(said.stdout), BYTES_OF_50_TOKENS + len(WORD) + 1)
                self.assertGreater(len(said.stdout), BYTES_OF_50_TOKENS)

    def test_options_of_a_chat_change_the_request(self):
        self.serve(HELLO)
        said = {"role": "user", "content": [{"type": "text", "text": "x", **CACHED}]}
        plain = self.body_of("chat", "x", "-m", CLAUDE)
        room = plain.pop("max_tokens")
        self.assertGreater(room, 77)
        self.assertEqual(plain,
                         {"model": "claude-sonnet-4-5", "stream": True, "messages": [said]})
        chosen = self.body_of("chat", "x", "-m", CLAUDE, "--max-tokens", "77",
                              "--temperature", "0.3", "--no-stream", "--system", "S")
        self.assertFalse(chosen.pop("stream", False))
        self.assertEqual(chosen, {"model": "claude-sonnet-4-5", "max_tokens": 77,
                                  "temperature": 0.3, "messages": [said],
                                  "system": [{"type": "text", "text": "S", **CACHED}]})

    def test_of_a_chain_the_next_model_is_asked_when_one_fails(self):
        self.serve("keys: off\nreplies:\n"
                   "  - { when: { model: 'claude-*' }, error: { status: 529 }, endless: true }\n"
                   "  - { when: { model: gpt-5 }, text: Hello., endless: true }\n"
                   "  - { when: { model: gpt-5-mini }, error: { status: 401 }, endless: true }\n"
                   "  - text: [One, two, three]\n"
                   "    fault: { kind: error_event, after_deltas: 1 }\n    endless: true\n")
        self.configure("aliases: { second: { model: openai/gpt-5, effort: low } }\n")
        said = self.ok("chat", "x", "-m", f"{CLAUDE},second", "--json")
        self.assertIn('"model":"openai/gpt-5","output":"Hello."', said.stdout)
        self.assertIn(f"{CLAUDE}: HTTP 529", said.stderr)
        last = self.requests()[-1]["body"]
        self.assertEqual((last["model"], last["reasoning"]["effort"]), ("gpt-5", "low"))
        # Not when a key was refused, nor when something has been said already.
        for first, shown in (("openai/gpt-5-mini", ""), ("gemini/gemini-2.5-flash", "One\n")):
            before = len(self.requests())
            failed = self.pawl("chat", "x", "-m", f"{first},second")
            self.assertEqual((failed.returncode, failed.stdout), (3, shown))
            self.assertEqual(len(self.requests()), before + 1)

    def test_a_conversation_stays_with_the_model_that_answers(self):
        self.serve("keys: off\nreplies:\n"
                   "  - { when: { model: 'claude-*' }, error: { status: 404 }, endless: true }\n"
                   "  - { text: Hello., endless: true }\n")
        said = self.ok("chat", "-m", f"{CLAUDE},openai/gpt-5", stdin="one\ntwo\n")
        self.assertEqual(said.stdout, "Hello.\nHello.\n")
        self.assertEqual([each["body"]["model"] for each in self.requests()],
                         ["claude-sonnet-4-5", "gpt-5", "gpt-5"])

    def test_nobody_is_there_to_take_the_turn_of_an_external_model(self):
        for chain in ("external", "external,scripted"):
            refused = self.pawl("chat", "x", "-m", chain)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn("external", refused.stderr)

    def test_empty_words_are_said_and_not_taken_for_none(self):
        self.serve(HELLO)
        self.refused("chat", "", "-m", CLAUDE, code=2, says="not empty")
        self.refused("chat", "x", "-m", "", code=2, says="--model")
        self.refused("chat", "x", "-m", "nobody/knows", code=2, says="pawl: --model: nobody")
        self.assertEqual(self.requests(), [])

    def test_effort_of_a_chat_reaches_models_that_think(self):
        self.serve(HELLO)
        thinking = self.body_of("chat", "x", "-m", CLAUDE, "--effort", "high")["thinking"]
        self.assertEqual(thinking["type"], "enabled")
        low = self.body_of("chat", "x", "-m", CLAUDE, "--effort", "low")["thinking"]
        self.assertLess(low["budget_tokens"], thinking["budget_tokens"])
        self.assertNotIn("effort", self.body_of("chat", "x", "-m", "openai/gpt-5")["reasoning"])
        for effort in ("low", "high"):
            body = self.body_of("chat", "x", "-m", "openai/gpt-5", "--effort", effort)
            self.assertEqual(body["reasoning"]["effort"], effort)

    def test_the_effort_of_an_alias_reaches_the_request(self):
        self.serve(HELLO)
        self.configure("aliases:\n"
                       "  planning: { provider: openai, model: gpt-5, effort: high }\n"
                       "  hasty: { provider: openai, model: gpt-5 }\n")
        run, chat = ("run", self.noting("planning"), "x"), ("chat", "x", "-m", "planning")
        for words in (run, chat):
            self.assertEqual(self.body_of(*words)["reasoning"]["effort"], "high", words)
        # What is said of this run or chat goes before what an alias says of all of them.
        self.noting("planning", "effort: low\n")
        for words in (run, (*chat, "--effort", "low")):
            self.assertEqual(self.body_of(*words)["reasoning"]["effort"], "low", words)
        self.noting("hasty")
        for words in (run, ("chat", "x", "-m", "hasty")):
            self.assertNotIn("effort", self.body_of(*words)["reasoning"], words)

    def read_until(self, process, text):
        """Reads what is printed up to now, until it has `text`."""
        got, until = b"", time.monotonic() + PATIENCE_S
        while text not in got:
            if not select.select([process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                self.fail(f"waited in vain for {text}; there was {got}")
            piece = os.read(process.stdout.fileno(), 65536)
            self.assertTrue(piece, f"it ended without {text}; there was {got}")
            got += piece
        return got

    def test_text_is_printed_as_it_comes(self):
        # The second part never comes: whoever prints the first has not waited for it.
        self.serve("keys: off\nreplies:\n  - text: First Second\n"
                   "    fault: { kind: stall, after_deltas: 1 }\n    endless: true\n")
        for model in MODELS:
            with self.subTest(model=model):
                process = self.start("chat", "x", "-m", model)
                self.assertEqual(self.read_until(process, b"First"), b"First")
                self.assertIsNone(process.poll())
                process.send_signal(signal.SIGINT)
                out, _ = self.end(process, 130)
                self.assertNotIn("Second", out)


class Rejecting(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        body = (b'{"type":"error","error":{"type":"authentication_error",'
                b'"message":"invalid x-api-key"}}')
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET


class Doctor(ProviderStage):
    def test_what_the_fake_provider_prints_is_enough_for_all(self):
        self.serve()
        said = self.pawl("doctor", "--live")
        for provider in ("anthropic", "openai", "gemini", "ollama"):
            self.assertIn(f"provider {provider}: answered", said.stdout)
        self.assertEqual(said.stderr, "")
        said = self.ok("chat", "Hi", "-m", "ollama/llama3.2:latest")
        self.assertEqual((said.stdout, said.stderr), ("Hi\n", ""))

    def only_claude(self, address):
        """No other provider is configured."""
        self.variables = {"ANTHROPIC_BASE_URL": address,
                          "ANTHROPIC_API_KEY": "sk-ant-very-secret-123456"}

    def connections(self):
        return self.ask_server("/_pawl/stats")["connections_accepted"]

    def test_doctor_asks_nobody_and_live_asks_once(self):
        self.serve()
        self.only_claude(self.variables["ANTHROPIC_BASE_URL"])
        before = self.connections()
        self.assertIn("provider anthropic", self.pawl("doctor").stdout)
        self.assertEqual(self.connections(), before + 1)  # that of the one who counts
        self.assertEqual(self.all_requests(), [])
        self.assertIn("took the key", self.pawl("doctor", "--live").stdout)
        self.assertEqual(len(self.all_requests()), 1, self.all_requests())

    def test_live_says_that_a_key_was_rejected_after_one_request(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Rejecting)
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.only_claude(f"http://127.0.0.1:{server.server_address[1]}")
        said = self.pawl("doctor", "--live")
        self.assertEqual(said.returncode, 1, said)
        self.assertIn("problem  provider anthropic: HTTP 401", said.stdout)
        self.assertNotIn("very-secret", said.stdout + said.stderr)
        self.assertEqual(len(server.asked), 1, server.asked)


if __name__ == "__main__":
    main()
