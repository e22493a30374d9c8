#!/usr/bin/env python3
"""Runs and chats against providers on loopback: every wire format, and what goes wrong."""

import base64
import json

from provider_stage import (BYTES_OF_50_TOKENS, CALL_THEN_ANSWER, ENDLESS_TEXT, MODELS, NOTE,
                            REPLIES, WORD, ProviderStage)
from support import json_lines, main

SCRIPTED = "scripted/same.script.yaml"
PICTURE = b"\x89PNG\r\n\x1a\n\0 a picture that nobody looks at \xff"


class Providers(ProviderStage):
    def test_the_same_charter_runs_on_every_wire_with_the_same_events(self):
        self.write("same.script.yaml", REPLIES)
        kinds = {}
        for number, model in enumerate((*MODELS, SCRIPTED)):
            with self.subTest(model=model):
                process = self.serve(CALL_THEN_ANSWER)
                said = self.ok("run", self.noting(model), "Note milk.", "--id", f"r{number}")
                self.assertIn("Noted: milk.", said.stdout)
                self.assertEqual(len(self.requests()), 0 if model == SCRIPTED else 2)
                events = self.events(f"r{number}")
                kinds[model] = [event["type"] for event in events]
                thought = json.dumps(events)
                self.assertNotIn("fake-key", thought)
                self.serve_no_more(process)
        self.assertEqual(len(kinds), len(MODELS) + 1)
        self.assertEqual(len({tuple(each) for each in kinds.values()}), 1, kinds)
        self.assertEqual(len(self.keys()), len(kinds))

    def test_a_chat_streams_and_counts(self):
        self.serve("keys: off\nreplies:\n  - text: Hello.\n"
                   "    usage: { input: 9, output: 2 }\n    endless: true\n")
        for model in MODELS:
            said = json_lines(self.ok("chat", "hi", "-m", model, "--json").stdout)[0]
            self.assertEqual((said["output"], said["input_tokens"], said["output_tokens"]),
                             ("Hello.", 9, 2), model)

    def test_failures_that_pass_are_passed(self):
        faults = ("status: 429, retry_after: '0.1'", "status: 529, retry_after: '0.1'",
                  "status: 500",
                  "kind: error_event, after_deltas: 1", "kind: reset, after_deltas: 1",
                  "kind: truncated", "kind: duplicate", "kind: splice", "kind: bad_chunk")
        for number, fault in enumerate(faults):
            with self.subTest(fault=fault):
                process = self.serve("replies:\n  - text: Done and done.\n    endless: true\n",
                                     "--fault", fault + ", times: 1")
                said = self.ok("run", self.noting(MODELS[0]), "x", "--id", f"r{number}")
                self.assertEqual(said.stdout.count("Done and done."), 1)
                kinds = [event["type"] for event in self.events(f"r{number}")]
                counts = (kinds.count("model_failed"), kinds.count("model_replied"))
                self.assertEqual(counts, (1, 1))
                self.assertEqual(len(self.requests()), 2)
                self.serve_no_more(process)

    def test_a_trickle_ends_with_the_turn(self):
        self.serve("replies:\n  - text: " + "slow " * 200 + "\n    endless: true\n",
                   "--fault", "kind: trickle, every: 50ms")
        self.configure("providers:\n  anthropic: { timeouts: { total: 1500ms } }\n")
        self.ok("run", self.noting(MODELS[0], "retry: { attempts: 1 }\n"), "x", "--id", "r", code=3)
        failed = [event for event in self.events("r") if event["type"] == "model_failed"]
        self.assertEqual(len(failed), 1)
        self.assertIn("in time", failed[0]["message"])

    def test_a_rejected_key_is_no_reason_to_try_again_and_is_not_shown(self):
        self.serve(None, "--fault", "status: 401")
        self.variables["ANTHROPIC_API_KEY"] = "sk-ant-very-secret-123456"
        said = self.ok("run", self.noting(f"{MODELS[0]},{MODELS[1]}"), "x", "--id", "r", code=3)
        self.assertEqual(len(self.requests()), 1)
        everything = said.stdout + said.stderr + json.dumps(self.events("r"))
        self.assertNotIn("very-secret", everything)

    def test_the_next_model_answers_when_the_first_is_not_there(self):
        self.serve("models: [gpt-5]\nreplies:\n  - text: From the second.\n    endless: true\n")
        self.ok("run", self.noting(f"{MODELS[0]},{MODELS[1]}"), "x", "--id", "r")
        events = self.events("r")
        replied = [event for event in events if event["type"] == "model_replied"]
        self.assertTrue(replied[0]["model"].startswith("openai/"), replied)

    def test_a_killed_run_goes_on_and_calls_no_tool_twice(self):
        slow = '    delta_delay: 20ms\n  - text: "Noted'
        # Its process may have asked for the answer before it is killed: there is another one.
        self.serve(CALL_THEN_ANSWER.replace('  - text: "Noted', slow) + "    endless: true\n")
        process = self.start("run", self.noting(MODELS[0]), "Note milk.", "--id", "r")
        self.wait_for(lambda: self.keys(), "the tool")
        process.kill()
        process.communicate()
        result = self.pawl("resume", "r")
        if result.returncode == 4:
            self.ok("resolve", "r", "c1", "--happened", "noted")
            result = self.pawl("resume", "r")
        self.assertEqual(self.status("r"), "done", result.stderr)
        self.assertEqual(len(self.keys()), 1)

    def next_request(self, resume, kill):
        """The second request of a run that calls a tool and then answers, without the run's id;
        `kill`: its process dies while the tool is under way."""
        server = self.serve(CALL_THEN_ANSWER)
        run = f"{resume}-killed" if kill else f"{resume}-whole"
        self.write("c.yaml", "name: c\nmodel: own/gpt-5\nproviders: { own: { dialect: "
                   f"openai_responses, key: none, resume: {resume}, "
                   f"base_url: 'http://127.0.0.1:{self.port}/v1' }} }}\ntools:\n  define:\n"
                   + NOTE.replace("once", "pure") + "instructions: Note it.\n")
        seen = len(self.keys())
        process = self.start("run", "c.yaml", "Note milk.", "--id", run)
        self.wait_for_keys(seen + 1)
        if kill:
            process.kill()
            process.communicate()
        self.open_gate()
        if kill:
            self.ok("resume", run)
        else:
            self.end(process, 0)
        (self.directory / "gate").unlink()
        bodies = [json.dumps(each["body"]) for each in self.requests()]
        self.assertEqual(len(bodies), 2)
        self.serve_no_more(server)
        return bodies[1].replace(run, "RUN")

    def test_after_a_restart_the_next_request_is_the_same(self):
        self.write("note.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n"
                   "while [ ! -e gate ]; do sleep 0.02; done\necho noted\n", 0o755)
        for resume in ("replay", "session"):
            with self.subTest(resume=resume):
                whole = self.next_request(resume, kill=False)
                self.assertEqual("previous_response_id" in whole, resume == "session")
                self.assertEqual(self.next_request(resume, kill=True), whole)

    def test_a_session_that_is_gone_is_replayed(self):
        self.serve("keys: off\nreplies:\n"
                   "  - call: [{ tool: note, input: { what: milk } }]\n"
                   "  - error: { status: 400, message: \"Previous response with id 'resp_1' not "
                   "found.\", type: invalid_request_error }\n"
                   "  - text: Noted.\n")
        more = ("providers: { own: { dialect: openai_responses, key: none, resume: session, "
                f"base_url: 'http://127.0.0.1:{self.port}/v1' }} }}\n")
        self.write("c.yaml", f"name: c\nmodel: own/gpt-5\n{more}tools:\n  define:\n{NOTE}"
                   "instructions: Note it.\n")
        self.assertIn("Noted.", self.ok("run", "c.yaml", "Note milk.", "--id", "r").stdout)
        bodies = [json.dumps(each["body"]) for each in self.requests()]
        self.assertEqual(["previous_response_id" in body for body in bodies],
                         [False, True, False])
        self.assertIn("Note milk.", bodies[2])
        self.assertEqual(len(self.keys()), 1)

    def test_money_runs_out_before_the_request_and_can_be_raised(self):
        self.serve(CALL_THEN_ANSWER)
        charter = self.noting(MODELS[0], "limits: { cost: 0.0001 USD }\n")
        self.ok("run", charter, "Note milk.", "--id", "r", code=4)
        self.assertEqual(self.requests(), [])
        self.ok("budget", "r", "--raise", "1.00")
        self.ok("resume", "r")
        self.assertEqual(len(self.requests()), 2)
        cost = self.summary("r")["usage"]["cost"]
        context = self.summary("r")["context"]
        self.assertEqual(context, {"tokens": 157, "limit": 200000})  # as the provider counted
        # 250 input at 3, 27 output at 15, 10 read at 0.30, 5 written at 3.75 dollars a million
        self.assertEqual(cost, "0.00117675 USD")

    def test_a_long_rate_limit_parks_a_run_until_it_is_over(self):
        self.serve("replies:\n  - text: Done.\n    endless: true\n",
                   "--fault", "status: 429, retry_after: 61, times: 1")
        process = self.start("run", self.noting(MODELS[0]), "x", "--id", "r")
        self.wait_for(lambda: self.pawl("show", "r", "--json").returncode == 0
                      and self.status("r") == "waiting", "the park")
        self.assertEqual(self.summary("r")["reason"], "rate_limit")
        process.kill()  # Nobody is there now; and it is not due yet.
        process.communicate()
        self.ok("resume", "--due")
        self.assertEqual((self.status("r"), len(self.requests())), ("waiting", 1))
        self.refused("resume", code=2, says="--due")

    def test_an_answer_must_fit_its_schema(self):
        self.serve('replies:\n  - text: "No JSON."\n  - text: "{\\"sum\\": \\"4\\"}"\n'
                   '  - text: "{\\"sum\\": 4}"\n')
        schema = ("output: { schema: { type: object, required: [sum], "
                  "properties: { sum: { type: integer } } } }\n")
        said = self.ok("run", self.noting(MODELS[0], schema), "2+2", "--id", "r")
        self.assertIn('{"sum": 4}', said.stdout)
        self.assertEqual(len(self.requests()), 3)

    def test_an_unknown_model_is_refused_before_any_request(self):
        self.serve()
        self.ok("run", self.noting("anthropic/gpt-5"), "x", code=2)
        self.assertEqual(self.requests(), [])

    def test_sampling_changes_the_request(self):
        self.serve("replies:\n  - text: Done.\n    endless: true\n")
        more = "max_tokens: 77\ntemperature: 0.3\nstream: off\n"
        self.ok("run", self.noting(MODELS[0], more), "x", "--id", "r")
        body = self.requests()[0]["body"]
        self.assertEqual((body["max_tokens"], body["temperature"]), (77, 0.3))
        self.assertFalse(body.get("stream", False))

    def test_what_a_model_does_not_take_is_refused_before_any_request(self):
        self.serve("keys: off\nreplies:\n  - text: Done.\n    endless: true\n")
        self.configure("providers:\n  plain:\n    dialect: openai_chat\n    key: none\n"
                       f"    base_url: http://127.0.0.1:{self.port}/v1\n"
                       "    models: { m: { temperature: false } }\n")
        for option, value in (("temperature", "0.3"), ("effort", "high")):
            charter = self.noting("plain/m", f"{option}: {value}\n")
            self.refused("run", charter, "x", code=2, says="plain/m takes no " + option)
            self.refused("chat", "x", "-m", "plain/m", f"--{option}", value, code=2,
                         says="plain/m takes no " + option)
        self.assertEqual(self.requests(), [])
        self.ok("chat", "x", "-m", "plain/m")

    def test_an_attached_image_reaches_a_model_that_takes_it_and_no_other(self):
        self.serve("keys: off\nreplies:\n  - text: Seen.\n    endless: true\n")
        (self.directory / "a.png").write_bytes(PICTURE)
        capable = MODELS[:3]
        for number, model in enumerate(capable):
            self.ok("run", self.noting(model), "Look.", "--attach", "a.png", "--id", f"r{number}")
            body = json.dumps(self.requests()[number]["body"])
            self.assertIn(base64.b64encode(PICTURE).decode(), body, model)
            self.assertIn("image/png", body, model)
        self.ok("run", self.noting("openai/gpt-4"), "Look.", "--attach", "a.png", "--id", "blind",
                code=3)
        self.assertIn("openai/gpt-4 takes no images", self.ok("explain", "blind").stdout)
        self.assertEqual(len(self.requests()), len(capable))

    def test_a_stream_beyond_its_cap_is_cut(self):
        self.serve(ENDLESS_TEXT)
        for number, model in enumerate(MODELS):
            with self.subTest(model=model):
                run = f"r{number}"
                self.ok("run", self.noting(model, "max_tokens: 50\n"), "x", "--id", run, code=5)
                self.assertEqual(self.summary(run)["reason"], "max_tokens")
                replies = [event for event in self.events(run) if event["type"] == "model_replied"]
                self.assertEqual(len(replies), 2)  # the second: it was asked to wrap up
                for reply in replies:
                    self.assertEqual(reply["stop"], "max_tokens")
                    self.assertIn("cut off: more than the 50 tokens", reply["stop_detail"])
                    heard = reply["blocks"][0]["text"]["bytes"]
                    self.assertLessEqual(heard, BYTES_OF_50_TOKENS + len(WORD))
                    self.assertGreater(reply["usage"]["output_tokens"], 50)
                self.ok("replay", run)
        self.assertEqual(len(self.requests()), 2 * len(MODELS))

    def test_debug_shows_requests_and_responses_without_the_key(self):
        self.serve("replies:\n  - text: Seen.\n")
        self.variables["ANTHROPIC_API_KEY"] = "sk-ant-very-secret-123456"
        said = self.ok("run", self.noting(MODELS[0], "temperature: 0.3\n"), "x", "--debug")
        self.assertIn('temperature\\":0.3', said.stderr)
        self.assertIn("Seen.", said.stderr)
        self.assertNotIn("very-secret", said.stderr + said.stdout)

    def test_without_a_key_the_script_inside_answers_and_says_so(self):
        said = self.ok("chat", "hi")
        self.assertIn("ANTHROPIC_API_KEY", said.stderr)


if __name__ == "__main__":
    main()
