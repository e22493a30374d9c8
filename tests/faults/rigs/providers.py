"""Providers that fail in every way and place, and a driver that is killed meanwhile."""

import itertools
import json
import signal
import time

from .bench import Violation
from .oracle import check_store
from .trials import Rig, sample

MODELS = ("anthropic/claude-sonnet-4-5", "openai/gpt-5", "gemini/gemini-2.5-flash", "local/any")
# What strikes at most twice; the run gets over it, or ends with a reason.
FAULTS = ("status: 429, retry_after: '0.05'", "status: 529", "status: 500", "status: 401",
          "status: 404", "kind: silence, at: before_head", "kind: close, at: in_head",
          "kind: reset, after_deltas: 0", "kind: reset, after_deltas: 2",
          "kind: close, at: before_end",
          "kind: stall, after_deltas: 1", "kind: pings, after_deltas: 1, every: 20ms",
          "kind: error_event, after_deltas: 0", "kind: error_event, after_deltas: 2",
          "kind: truncated", "kind: truncated_input", "kind: duplicate", "kind: splice",
          "kind: reorder", "kind: giant_line, bytes: 20000000", "kind: many_calls, count: 400",
          "kind: deep_json, count: 2000", "kind: bad_utf8", "kind: split",
          "kind: lying_usage, usage: '-5'", "kind: lying_usage, usage: 9223372036854775808",
          "kind: lying_usage, usage: missing", "kind: bad_chunk", "kind: length_and_chunked",
          "kind: huge_header", "kind: continue_flood, count: 2000")
CHARTER = """name: c
model: MODEL
limits: { steps: 20, time: 10m }
guards: { identical_calls: off, identical_steps: off, tool_errors: 9 }
tools:
  define:
    pay: { description: Pays., command: [./next.sh, once], effect: once, input: { type: object } }
    mail:
      description: Mails.
      command: [./next.sh, idempotent]
      effect: idempotent
      input: { type: object }
instructions: Do the work.
"""
# The fake provider echoes results, and a line "call TOOL INPUT" is a call: the conversation says
# itself how it goes on, however often a request is repeated.
NEXT = """#!/bin/sh
read -r input || :
echo "$PAWL_KEY $input" >>"ledger.$1"
case "$input" in
*1*) echo 'call mail {"n":2}'; echo 'call pay {"n":3}' ;;
*2*) echo 'did two' ;;
*3*) echo 'call pay {"n":4}' ;;
*) echo 'All done.' ;;
esac
"""
CONFIG = """providers:
  local:
    { dialect: openai_chat, base_url: "BASE/v1", key: "env:OPENAI_API_KEY", timeouts: TIMES }
  anthropic: { timeouts: TIMES }
  openai: { timeouts: TIMES }
  gemini: { timeouts: TIMES }
"""
TIMES = "{ connect: 5s, first_byte: 700ms, idle: 700ms, total: 20s, progress: 700ms }"
ROUNDS_MAX = 12
# A call that cannot be run is told to the model, and this one has nothing more to say then.
TOLD = ("truncated_input", "many_calls", "deep_json", "bad_utf8")
# How a run may end that met with a fault it cannot get over.
REASONS = {"llm_error", "network_error", "timeout", "validation_error", "policy_violation",
           "quota_exceeded", "tool_errors"}


class Providers(Rig):
    NAME = "providers"
    COUNT = 24

    def plan(self, count, chance):
        everything = list(itertools.product(MODELS, FAULTS, (1, 2), ("calm", "killed")))
        chance.shuffle(everything)
        return sample(chance, everything, count)

    def perform(self, stage, trial, chance):
        model, fault, times, fate = trial
        skip = chance.randint(0, 3)
        where = f", skip: {skip}" if skip else ""
        provider, port = self.serve(stage, f"{fault}, times: {times}{where}")
        base = f"http://127.0.0.1:{port}"
        (stage.directory / "config.yaml").write_text(
            CONFIG.replace("BASE", base).replace("TIMES", TIMES))
        (stage.directory / "c.yaml").write_text(CHARTER.replace("MODEL", model))
        script = stage.directory / "next.sh"
        script.write_text(NEXT)
        script.chmod(0o755)
        stage.variables = {
            "PAWL_CONFIG": str(stage.directory / "config.yaml"), "ANTHROPIC_BASE_URL": base,
            "ANTHROPIC_API_KEY": "sk-test-key-000111", "OPENAI_BASE_URL": base + "/v1",
            "OPENAI_API_KEY": "sk-test-key-000111", "GEMINI_API_KEY": "sk-test-key-000111",
            "GEMINI_BASE_URL": base}
        self.begin(stage, fate, chance)
        summary = self.carry_on(stage)
        self.check(stage, summary, fault)
        provider.send_signal(signal.SIGTERM)

    @staticmethod
    def serve(stage, fault):
        provider = stage.spawn("fake-provider", "--fault", fault)
        first = provider.stdout.readline()
        if "listening on" not in first:
            raise Violation(f"the fake provider: {first} {provider.stderr.read()}")
        return provider, int(first.rsplit(":", 1)[1])

    def begin(self, stage, fate, chance):
        words = ("run", "c.yaml", 'call pay {"n":1}', "--id", "r", "--json")
        process = stage.spawn(*words, faults=stage.variables)
        if fate == "killed":
            time.sleep(chance.random() * 0.6)
            process.kill()
        stage.end(process, words, "r")

    def carry_on(self, stage):
        for _ in range(ROUNDS_MAX):
            shown = stage.pawl("show", "r", "--json", faults=stage.variables)
            if shown.code != 0:  # It was killed before it was accepted.
                stage.pawl("run", "c.yaml", 'call pay {"n":1}', "--id", "r", "--json", run="r",
                           faults=stage.variables)
                continue
            summary = json.loads(shown.out)
            if summary["status"] in ("done", "failed", "stopped"):
                return summary
            doubts = [call for call in summary.get("calls", []) if call["state"] == "in_doubt"]
            for call in doubts:
                happened = self.happened(stage, call["key"])
                how = ("--happened", happened) if happened else ("--did-not-happen",)
                stage.pawl("resolve", "r", call["call"], *how, faults=stage.variables)
            stage.pawl("resume", "r", "--json", run="r", faults=stage.variables)
        raise Violation(f"it does not end: {summary}")

    @staticmethod
    def happened(stage, key):
        """The result of the call in doubt, from what its tool left behind."""
        for booked, done in stage.ledger("once"):
            if booked == key:
                return {"1": 'call mail {"n":2}\ncall pay {"n":3}',
                        "3": 'call pay {"n":4}'}.get(done[-2], "All done.")
        return None

    def check(self, stage, summary, fault):
        keys = [key for key, _ in stage.ledger("once")]
        if len(keys) != len(set(keys)):
            raise Violation(f"an effect happened twice: {keys}")
        if summary["status"] != "done" and summary.get("reason") not in REASONS:
            raise Violation(f"it ended as {summary['status']}, {summary.get('reason')}")
        told = any(kind in fault for kind in TOLD)
        if summary["status"] == "done" and len(keys) != 3 and not told:
            raise Violation(f"it is done after {len(keys)} payments of 3")
        events = stage.pawl("logs", "r", "--json", faults=stage.variables).events
        text = json.dumps(events)
        if "sk-test-key" in text:
            raise Violation("a key is in the journal")
        for event in events:
            refused = event["type"] == "model_failed" and "HTTP 400" in event["message"]
            if refused:
                raise Violation(f"a request was not valid: {event['message']}")
        self.check_cost(summary, events)
        check_store(stage)

    @staticmethod
    def check_cost(summary, events):
        prices = events[0]["targets"][0]["prices"]
        classes = ("input", "output", "cache_read", "cache_creation")

        def pico(usage):
            return sum(usage[f"{each}_tokens"] * prices[each] for each in classes)

        spent = 0
        for event in events:
            if event["type"] in ("model_replied", "model_failed", "model_aborted"):
                stated = event.get("cost_pico")
                spent += pico(event["usage"]) if stated is None else stated
            for decision in event.get("decisions", []):
                if decision["type"] == "attempt_discarded":
                    spent += pico(decision["charged"])
        said = summary["usage"]["cost"].split()[0].partition(".")
        if int(said[0]) * 10**12 + int(said[2].ljust(12, "0")) != spent:
            raise Violation(f"{spent} were charged, and it says {summary['usage']['cost']}")
