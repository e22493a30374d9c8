#!/usr/bin/env python3
"""A provider behind a server of HTTP/2: node's, with a certificate of the test's own."""

import os
import shutil
import subprocess

from support import Stage, main

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "h2_server.mjs")


class Http2(Stage):
    def setUp(self):
        super().setUp()
        for program in ("node", "openssl"):
            if not shutil.which(program):
                self.skipTest(f"there is no {program} on this machine")
        self.variables = {}

    def environment(self):
        return {**super().environment(), **self.variables}

    def serve(self):
        """A fake provider, and HTTP/2 in front of it; the port of the latter."""
        script = self.write("fake.yaml",
                            "keys: off\nreplies:\n  - text: Hello.\n    endless: true\n")
        fake = self.start("fake-provider", "--script", script)
        behind = fake.stdout.readline().strip().rsplit(":", 1)[1]
        certificate, key = self.write("c.pem", ""), self.write("k.pem", "")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                        certificate, "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-days", "2"],
                       check=True, stderr=subprocess.DEVNULL)
        front = subprocess.Popen(["node", SERVER, certificate, key, "100", behind],
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(front.stdout.close)
        self.addCleanup(front.wait)
        self.addCleanup(front.kill)
        self.variables["CURL_CA_BUNDLE"] = certificate
        return int(front.stdout.readline())

    def charter(self, port, http):
        return self.write("c.yaml", "name: c\nmodel: far/any\nproviders:\n  far: { dialect: "
                          f"anthropic, base_url: 'https://127.0.0.1:{port}', key: none"
                          f"{http} }}\ninstructions: Answer.\nretry: {{ attempts: 1 }}\n")

    def test_a_run_by_http2_and_what_the_option_does(self):
        port = self.serve()
        for http in ("", ", http: auto", ", http: 2"):
            said = self.ok("run", self.charter(port, http), "hello")
            self.assertIn("Hello.", said.stdout, http)
        # The server speaks nothing else.
        failed = self.pawl("run", self.charter(port, ", http: 1.1"), "hello")
        self.assertNotEqual(failed.returncode, 0)
        self.refused("run", self.charter(port, ", http: 3"), "hello", code=2, says="c.yaml:4:")


if __name__ == "__main__":
    main()
