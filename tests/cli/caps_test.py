#!/usr/bin/env python3
"""Caps against list prices: a provider that bills every request it has taken, also those whose
reply was lost, never bills a run or a tenant more than the cap."""

import http.server
import json
import random
import signal
import socket
import threading

from support import SOURCE, Stage, main

PRICES = json.loads((SOURCE / "tests/golden/models/prices.json").read_text())["models"]
TOKENS = "_cost_per_token"


def list_price(model, usage):
    """What the public list says about one request, in USD."""
    row = PRICES[model][0]
    total = sum(usage.values()) - usage["output"]
    tier = ""
    for key in row:
        if key.startswith("input_cost_per_token_above_") and key.endswith("k_tokens"):
            thousands = int(key.split("_above_")[1].removesuffix("k_tokens"))
            tier = f"_above_{thousands}k_tokens" if total > 1000 * thousands else tier

    def price(key, otherwise):
        return row.get(key + tier, row.get(key, otherwise))
    given = price("input" + TOKENS, 0)
    written = price("cache_creation_input_token_cost", given)
    return (usage["input"] * given + usage["output"] * price("output" + TOKENS, 0)
            + usage["cache_read"] * price("cache_read_input_token_cost", given)
            + usage["cache_creation"] * written
            + usage["cache_creation_1h"]
            * price("cache_creation_input_token_cost_above_1hr", written))


class Biller(http.server.BaseHTTPRequestHandler):
    """Anthropic's format. It counts a token for four bytes, caches as it likes, loses replies."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        asked = json.loads(body)
        server = self.server
        with server.lock:
            how = server.random.choice(server.ends)
            usage = self.bill(len(body), asked["max_tokens"], server)
            server.bills.append(list_price("anthropic/" + asked["model"], usage))
        if how == "overloaded":
            server.bills.pop()  # an error is not charged
            return self.whole(529, {"type": "error", "error": {"type": "overloaded_error",
                                                               "message": "Overloaded"}})
        if how == "lost":
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        call = {"type": "tool_use", "id": f"toolu_{len(server.bills)}", "name": "today",
                "input": {"n": len(server.bills)}}
        events = self.events(asked["model"], usage, call)
        if how == "cut":
            return self.stream(events[:2])
        return self.stream(events)

    def bill(self, length, most, server):
        left = max(1, length // 4)
        usage = {"output": server.random.randint(1, most)}
        for kind in ("cache_creation_1h", "cache_creation", "cache_read"):
            usage[kind] = server.random.choice((0, left))
            left -= usage[kind]
        usage["input"] = left
        return usage

    def events(self, model, usage, call):
        counted = {"input_tokens": usage["input"], "output_tokens": 1,
                   "cache_read_input_tokens": usage["cache_read"],
                   "cache_creation_input_tokens":
                       usage["cache_creation"] + usage["cache_creation_1h"],
                   "cache_creation": {"ephemeral_5m_input_tokens": usage["cache_creation"],
                                      "ephemeral_1h_input_tokens": usage["cache_creation_1h"]}}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model,
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": counted}
        text = json.dumps(call["input"])
        return [("message_start", {"message": message}),
                ("content_block_start", {"index": 0, "content_block": {**call, "input": {}}}),
                ("content_block_delta", {"index": 0, "delta": {"type": "input_json_delta",
                                                               "partial_json": text}}),
                ("content_block_stop", {"index": 0}),
                ("message_delta", {"delta": {"stop_reason": "tool_use", "stop_sequence": None},
                                   "usage": {"output_tokens": usage["output"]}}),
                ("message_stop", {})]

    def whole(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for kind, fields in events:
            line = json.dumps({"type": kind, **fields})
            self.wfile.write(f"event: {kind}\ndata: {line}\n\n".encode())
        self.close_connection = True


class Caps(Stage):
    def bills(self, seed, ends):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Biller)
        server.daemon_threads = True
        server.random = random.Random(seed)
        server.lock = threading.Lock()
        server.ends = ends
        server.bills = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def environment(self):
        return {**super().environment(), "ANTHROPIC_API_KEY": "fake-provider-key",
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.server.server_address[1]}"}

    def charter_of(self, model, more):
        self.write("today.sh", "#!/bin/sh\necho Monday\n", 0o755)
        self.write("c.yaml", f"name: c\nmodel: {model}\n{more}"
                   "retry: { attempts: 2, first_delay: 1ms }\n"
                   "tools:\n  define:\n    today:\n      description: Tells the day.\n"
                   "      command: [./today.sh]\n      effect: pure\n"
                   "      input: { type: object }\ninstructions: Go.\n")
        return "c.yaml"

    def spent(self, run):
        return float(self.summary(run)["usage"]["cost"].split()[0])

    def check(self, run, cap):
        billed = sum(self.server.bills)
        self.assertGreater(len(self.server.bills), 0)
        self.assertLessEqual(billed, cap + 1e-9, self.server.bills)
        return billed

    def test_a_run_is_never_billed_more_than_its_cap(self):
        models = [("anthropic/claude-sonnet-4-5", 0.05), ("anthropic/claude-opus-4-8", 0.3),
                  ("anthropic/claude-haiku-4-5", 0.02)]
        for seed, (model, cap) in enumerate(models * 2):
            with self.subTest(seed=seed, model=model):
                self.server = self.bills(seed, ["whole"] * 3 + ["cut", "lost", "overloaded"])
                charter = self.charter_of(model, f"limits: {{ steps: 12, cost: {cap} USD }}\n")
                self.pawl("run", charter, "--id", f"r{seed}")
                self.check(f"r{seed}", cap)

    def test_a_reply_that_is_always_lost_ends_at_the_cap(self):
        self.server = self.bills(1, ["lost", "cut"])
        charter = self.charter_of("anthropic/claude-sonnet-4-5",
                                  "limits: { cost: 0.05 USD }\n")
        self.pawl("run", charter, "--id", "r")
        self.check("r", 0.05)

    def test_two_drivers_of_one_tenant_are_never_billed_more_than_its_window(self):
        self.server = self.bills(11, ["whole", "whole", "cut", "lost"])
        charter = self.charter_of("anthropic/claude-sonnet-4-5", "limits: { steps: 8 }\n"
                                  "max_tokens: 1000\n"
                                  "budget: { tenant: { per: 1h, cost: 0.06 USD } }\n")
        runs = [self.start("run", charter, "--id", f"r{n}") for n in range(4)]
        runs[0].send_signal(signal.SIGKILL)
        for process in runs:
            process.communicate(timeout=60)
        self.check("r1", 0.06)


if __name__ == "__main__":
    main()
