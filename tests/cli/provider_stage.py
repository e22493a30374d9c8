"""A stage with a provider on loopback: pawl fake-provider, what it was asked, and a charter."""

import http.client
import json
import signal

from support import Stage

MODELS = ("anthropic/claude-sonnet-4-5", "openai/gpt-5", "gemini/gemini-2.5-flash",
          "ollama/qwen3")
NOTE = """    note:
      description: Notes something.
      command: [./note.sh]
      effect: once
      input: { type: object, properties: { what: { type: string } }, required: [what] }
"""
REPLIES = """replies:
  - thinking: I should note it.
    text: Noting.
    call: [{ tool: note, input: { what: milk } }]
    usage: { input: 100, output: 20, cache_read: 10, cache_creation: 5 }
  - text: "Noted: milk."
    usage: { input: 150, output: 7 }
"""
CALL_THEN_ANSWER = "keys: off\n" + REPLIES
# It ignores that 50 tokens were allowed; and having said 40 words it neither goes on nor ends.
WORD = "w" * 255 + " "
ENDLESS_TEXT = (f"keys: off\nreplies:\n  - text: {WORD * 60}\n    delta_delay: 2ms\n"
                "    fault: { kind: stall, after_deltas: 40 }\n    endless: true\n")
BYTES_OF_50_TOKENS = 50 * 16 + 4096  # docs/budget.md


class ProviderStage(Stage):
    def setUp(self):
        super().setUp()
        self.variables = {}
        self.write("note.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\necho noted\n", 0o755)

    def environment(self):
        return {**super().environment(), **self.variables}

    def serve(self, script=None, *options):
        words = ["fake-provider", *options]
        if script:
            words += ["--script", self.write("fake.yaml", script)]
        process = self.start(*words)
        self.port = int(process.stdout.readline().rsplit(":", 1)[1])
        self.variables.pop("OLLAMA_HOST", None)  # the last of those that it prints
        while "OLLAMA_HOST" not in self.variables:
            name, value = process.stdout.readline().strip().removeprefix("export ").split("=", 1)
            self.variables[name] = value
        return process

    def serve_no_more(self, process):
        process.send_signal(signal.SIGTERM)
        self.end(process, 0)
        self.variables = {}

    def ask_server(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path)
        said = json.loads(connection.getresponse().read())
        connection.close()
        return said

    def all_requests(self):
        return [each for each in self.ask_server("/_pawl/requests")
                if not each["path"].startswith("/_pawl/")]

    def requests(self):
        return [each for each in self.all_requests() if each["method"] == "POST"]

    def configure(self, text):
        self.variables["PAWL_CONFIG"] = str(self.write("config.yaml", text))

    def noting(self, model, more=""):
        self.write("c.yaml", f"name: c\nmodel: {model}\n{more}tools:\n  define:\n{NOTE}"
                   "instructions: Note what you are told.\n")
        return "c.yaml"
