#!/usr/bin/env python3
"""A thousand planted secrets go through runs at debug level, and are nowhere afterwards."""

import json
import pathlib
import subprocess

import canaries
from support import PAWL, PATIENCE_S, Stage, main

MODEL = "anthropic/claude-sonnet-4-5"
FILES = 30
TOOLS = """tools:
  define:
    leak:
      description: Prints what it should not know.
      command: [./leak.sh]
      effect: pure
      input: { type: object }
    fail:
      description: Fails, and quotes.
      command: [./fail.sh]
      effect: pure
      input: { type: object }
"""


class Canaries(Stage):
    def setUp(self):
        super().setUp()
        self.values = canaries.make()
        self.wanted = canaries.needles(self.values)
        self.variables = {f"CANARY_{number}_KEY": value
                          for number, value in enumerate(self.values[FILES:])}
        self.variables["ANTHROPIC_API_KEY"] = self.values[-1]
        headers = ""
        for number, value in enumerate(self.values[:FILES]):
            self.write(f"secret{number}", value + "\n", 0o600)
            headers += f"      x-canary-{number}: file:secret{number}\n"
        self.config = self.write("config.yaml",
                                 f"providers:\n  anthropic:\n    headers:\n{headers}")
        self.log = self.directory / "pawl.log"
        self.said = []
        leaked = "\n".join(canaries.disguised(value, number)
                           for number, value in enumerate(self.values))
        self.planted = {"leaked", "fake.yaml", "config.yaml",
                        *(f"secret{number}" for number in range(FILES))}
        self.write("leaked", leaked)
        self.write("leak.sh", "#!/bin/sh\ncat leaked\n", 0o755)
        self.write("fail.sh", "#!/bin/sh\nhead -c 3000 leaked >&2\nhead -c 3000 leaked\nexit 7\n",
                   0o755)

    def environment(self):
        return {**super().environment(), **self.variables}

    def serve(self):
        one, two, three, four = (json.dumps(value) for value in self.values[100:104])
        said = json.dumps("Done with " + canaries.disguised(self.values[105], 1))
        rejected = json.dumps("Bearer " + self.values[-1])
        halves = [self.values[104][:9], self.values[104][9:]]
        script = ("replies:\n"
                  f"  - thinking: {one}\n    text: {json.dumps(['Here: ', *halves, '.'])}\n"
                  f"    call: [{{ tool: leak, input: {{ what: {two} }} }}]\n"
                  f"  - text: {three}\n    call: [{{ tool: fail, input: {{}} }}]\n"
                  f"  - error: {{ status: 500, message: {four} }}\n"
                  f"  - text: {said}\n"
                  f"  - error: {{ status: 401, message: {rejected} }}\n    endless: true\n")
        process = self.start("fake-provider", "--script", self.write("fake.yaml", script))
        self.variables["ANTHROPIC_BASE_URL"] = process.stdout.readline().strip().rsplit(" ", 1)[1]

    def do(self, *words, code=None):
        result = subprocess.run(
            [PAWL, *map(str, words), "--config", self.config, "--log-level", "debug",
             "--log-file", self.log], cwd=self.directory, env=self.environment(),
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S * 2)
        if code is not None:
            self.assertEqual(result.returncode, code, result.stderr[-2000:])
        self.said.append((words, result.stdout + result.stderr))
        return result

    def test_a_thousand_values_are_nowhere(self):
        self.serve()
        charter = self.write("c.yaml", f"name: c\nmodel: {MODEL}\nretry: {{ first_delay: 1ms }}\n"
                             f"{TOOLS}instructions: Go.\n")
        self.do("run", charter, "Look at " + self.values[200], "--id", "r", "--json", code=0)
        self.do("run", charter, "Again", "--id", "s", code=3)
        for words in (["logs", "r", "--json"], ["logs", "r"], ["show", "r"],
                      ["show", "r", "--json"], ["explain", "r"],
                      ["export", "r", "-o", "r.export"], ["ls", "--json"], ["doctor"],
                      ["models", "--json"]):
            self.assertNotEqual(self.do(*words).returncode, 2, words)
        self.assertEqual(self.do("replay", "r").returncode, 0)
        found = {str(words): values for words, said in self.said
                 if (values := canaries.hits(said, self.wanted))}
        found.update(canaries.hits_below(self.directory, self.wanted, skip=self.planted))
        self.assertEqual({place: len(values) for place, values in found.items()}, {})
        # The work was done all the same, with names for values.
        self.assertIn(b"[[pawl-secret:CANARY_", self.said[2][1])
        self.assertTrue(pathlib.Path(self.directory / "r.export").exists())


if __name__ == "__main__":
    main()
