#!/usr/bin/env python3
"""pawl fake-provider as a program: its address, its script and faults, and its end."""

import http.client
import json
import signal
import socket
import zlib

from support import Stage, main

HEADERS = {"x-api-key": "sk-ant-secret", "anthropic-version": "2023-06-01"}


class FakeProvider(Stage):
    def serve(self, *options):
        process = self.start("fake-provider", *options)
        said = process.stdout.readline()
        self.assertTrue(said.startswith("listening on http://127.0.0.1:"), said)
        self.variables = []
        while not self.variables or "OLLAMA_HOST" not in self.variables[-1]:
            self.variables.append(process.stdout.readline())
        return process, int(said.rsplit(":", 1)[1])

    def ask(self, port, text, headers=None):
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}
        return self.request(port, "POST", "/v1/messages", json.dumps(body),
                            HEADERS if headers is None else headers)

    def request(self, port, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.addCleanup(connection.close)
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()

    def test_it_echoes_and_ends_on_a_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process, port = self.serve()
            status, _, body = self.ask(port, "Hello you")
            self.assertEqual(status, 200)
            self.assertEqual(json.loads(body)["content"][0]["text"], "Hello you")
            process.send_signal(number)
            out, err = self.end(process, 0)
            self.assertIn(f"export ANTHROPIC_BASE_URL=http://127.0.0.1:{port}\n",
                          self.variables)
            self.assertEqual((out, err), ("1 requests\n", ""))

    def test_it_follows_a_script(self):
        script = self.write("s.yaml", "replies:\n  - text: One.\n  - error: { status: 529 }\n")
        _, port = self.serve("--script", script)
        self.assertEqual(json.loads(self.ask(port, "a")[2])["content"][0]["text"], "One.")
        status, _, body = self.ask(port, "b")
        self.assertEqual((status, json.loads(body)["error"]["type"]), (529, "overloaded_error"))

    def test_a_script_with_faults_is_refused_with_their_lines(self):
        self.write("bad.yaml", "replies:\n  - txet: One.\n  - stop: never\n")
        said = self.refused("fake-provider", "--script", "bad.yaml", code=2, says="bad.yaml:2:")
        self.assertIn("bad.yaml:3:", said.stderr)
        self.refused("fake-provider", "--fault", "stal", code=2, says="stall")
        self.refused("fake-provider", "--fault", "kind: stall, n: 1", code=2, says='"n"')

    def test_faults_strike_as_often_as_they_say(self):
        _, port = self.serve("--fault", "status: 429, retry_after: 7, times: 2")
        statuses = [self.ask(port, "a") for _ in range(3)]
        self.assertEqual([status for status, _, _ in statuses], [429, 429, 200])
        self.assertEqual(statuses[0][1]["retry-after"], "7")

    def test_broken_replies_are_broken_on_the_wire(self):
        def raw(fault, until=None):
            process, port = self.serve("--fault", fault)
            body = json.dumps({"model": "m", "max_tokens": 9, "stream": True,
                               "messages": [{"role": "user", "content": "One two three"}]})
            head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
            got = b""
            with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
                client.sendall(f"POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
                               f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
                try:
                    while until is None or until not in got:
                        piece = client.recv(65536)
                        if not piece:
                            break
                        got += piece
                except ConnectionResetError:
                    got += b"RESET"
            process.terminate()
            self.end(process, 0)
            return got

        self.assertTrue(raw("reset").endswith(b"RESET"))
        self.assertEqual(raw("kind: close, at: before_head"), b"")
        self.assertNotIn(b"message_stop", raw("close"))
        self.assertEqual(raw("duplicate").count(b"event: message_start"), 2)
        self.assertIn(b'"type":"overloaded_error"', raw("error_event"))
        self.assertIn(b": ping\n\n", raw("kind: pings, every: 1ms", until=b": ping\n\n"))
        self.assertIn(b"FFFFFFFFFFFFFFFF\r\n", raw("bad_chunk"))
        self.assertGreater(len(raw("kind: giant_line, bytes: 5MB")), 5_000_000)
        self.assertIn(b"1\r\ne\r\n1\r\nv\r\n1\r\ne\r\n", raw("split"))
        self.assertIn(b"message_stop", raw("kind: trickle, every: 1ms").replace(b"\r\n", b""))

    def test_a_bomb_unfolds(self):
        _, port = self.serve("--fault", "kind: gzip_bomb, bytes: 64MiB")
        status, headers, body = self.ask(port, "x")
        self.assertEqual((status, headers["content-encoding"]), (200, "gzip"))
        self.assertLess(len(body), 200_000)
        unfolded = zlib.decompressobj(31).decompress(body)
        self.assertGreater(len(unfolded), 64 << 20)

    def test_requests_can_be_listed_and_show_no_key(self):
        _, port = self.serve()
        self.ask(port, "remember me")
        status, _, body = self.request(port, "GET", "/_pawl/requests")
        self.assertEqual(status, 200)
        seen = json.loads(body)
        self.assertEqual([(each["path"], each["model"]) for each in seen],
                         [("/v1/messages", "m")])
        self.assertEqual(seen[0]["body"]["messages"][0]["content"], "remember me")
        self.assertNotIn(b"sk-ant-secret", body)
        stats = json.loads(self.request(port, "GET", "/_pawl/stats")[2])
        self.assertEqual(stats["requests"], 3)

    def test_what_is_recorded_is_replayed_and_holds_no_secret(self):
        script = self.write("s.yaml", "replies:\n  - text: [Hel, lo]\n"
                            "  - error: { status: 401, message: 'Bad key: sk-ant-secret' }\n")
        _, upstream = self.serve("--script", script)
        process, port = self.serve("--record", "tape", "--upstream",
                                   f"http://127.0.0.1:{upstream}/")
        first, second = self.ask(port, "one"), self.ask(port, "two: sk-ant-secret")
        self.assertEqual((first[0], second[0]), (200, 401))
        process.terminate()
        self.end(process, 0)
        tape = (self.directory / "tape").read_text()
        self.assertNotIn("sk-ant-secret", tape)
        self.assertEqual(len(tape.splitlines()), 3)

        _, again = self.serve("--replay", "tape")
        self.assertEqual(self.ask(again, "two: sk-ant-secret")[0], 401)
        self.assertEqual(self.ask(again, "one")[2], first[2])
        status, _, body = self.request(again, "POST", "/v1/else", "{}")
        self.assertEqual(status, 404)
        self.assertIn(b"no recording of POST /v1/else", body)

    def test_an_upstream_that_is_not_there_is_a_bad_gateway(self):
        _, port = self.serve("--record", "tape", "--upstream", "http://127.0.0.1:1")
        status, _, body = self.ask(port, "one")
        self.assertEqual(status, 502)
        self.assertIn(b"the upstream did not answer", body)

    def test_json_is_json(self):
        process = self.start("fake-provider", "--json")
        said = json.loads(process.stdout.readline())
        self.assertEqual(said["environment"]["OPENAI_BASE_URL"], said["listening"] + "/v1")
        process.terminate()
        out, _ = self.end(process, 0)
        self.assertEqual(json.loads(out), {"requests": 0})

    def test_a_port_that_is_taken_is_an_error(self):
        _, port = self.serve()
        self.refused("fake-provider", "--port", port, code=1, says=f"127.0.0.1:{port}")


if __name__ == "__main__":
    main()
