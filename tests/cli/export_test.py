#!/usr/bin/env python3
"""A run as one file: export and import."""

import json
import os
import stat

from support import Stage, json_lines, main

KEY = "sk-" + "aB3dE6gH9jK2mN5pQ8sT"


class Export(Stage):
    def elsewhere(self):
        """From here on another store is used."""
        self.data = self.directory / "elsewhere"

    def export(self, run, *options, file="run.jsonl"):
        self.ok("export", run, "-o", file, *options)
        return self.directory / file

    def test_a_run_travels_byte_for_byte(self):
        self.ok("run", self.pay(), "x" * 9000, "--id", "r")
        ledger = self.ledger()
        chain = json.loads(self.ok("verify", "r", "--json").stdout)["chain"]
        file = self.export("r")
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)
        header = json_lines(file.read_text())[0]
        self.assertEqual((header["pawl_export"], header["run"], header["chain"]), (2, "r", chain))
        self.assertEqual(self.ok("export", "r").stdout, file.read_text())
        self.elsewhere()
        report = json.loads(self.ok("import", file, "--json").stdout)
        self.assertEqual((report["run"], report["chain"], report["look_only"]), ("r", chain, ""))
        self.ok("verify", "r")
        self.ok("replay", "r")
        self.assertEqual(self.status("r"), "done")
        self.assertEqual(self.ok("export", "r").stdout, file.read_text())
        self.assertEqual(self.ledger(), ledger, "something was run")

    def test_an_id_that_is_there_is_refused(self):
        self.ok("run", self.charter("c", "  - text: Done.\n"), "--id", "r")
        file = self.export("r")
        for _ in range(20):  # However often: the run that is there is not to blame.
            self.refused("import", file, code=1, says="--id")
        self.ok("import", file, "--id", "copy")
        self.ok("diff", "r", "copy")
        self.refused("import", file, "--id", "no good", code=2, says="a run id has")
        self.refused("export", "r", "-o", file, code=1, says="is there already")
        self.refused("export", "nobody", code=1, says="there is no run nobody")

    def test_a_killed_run_is_carried_on_elsewhere(self):
        self.gated()
        process = self.start("run", "gated.yaml", "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        self.ok("resume", "r", code=4)
        file = self.export("r")
        self.elsewhere()
        self.ok("import", file)
        self.assertEqual(self.summary("r")["reason"], "in_doubt")
        self.ok("resolve", "r", "c1", "--happened", "ok")
        self.ok("resume", "r")
        self.ok("replay", "r")
        self.assertEqual(len(self.keys()), 1)

    def test_secrets_stay_here(self):
        self.charter("c", f"  - text: Use {KEY} or swordfish42.\n")
        self.ok("run", "c.yaml", KEY, "--id", "r")
        environment = self.environment
        self.environment = lambda: {**environment(), "MY_TOKEN": "swordfish42"}
        file = self.export("r")
        text = file.read_text()
        self.assertNotIn(KEY, text)
        self.assertNotIn("swordfish42", text)
        self.assertGreater(json_lines(text)[0]["redactions"], 2)
        self.assertIn(KEY, self.export("r", "--no-redact", file="all.jsonl").read_text())
        self.elsewhere()
        said = self.ok("import", file).stdout
        self.assertIn("looked at, not driven (redacted)", said)
        self.assertIn("[redacted:1]", self.ok("show", "r").stdout)
        self.ok("logs", "r")
        self.assertIn("can be looked at", self.ok("explain", "r").stdout)
        self.ok("verify", "r")
        self.refused("fork", "r", "--at", "0", code=1, says="redacted")

    def test_a_file_with_a_secret_of_this_machine_is_refused(self):
        secret = "canary-of-the-host-0123456789"
        self.charter("c", f"  - text: Use {secret}.\n")
        self.ok("run", "c.yaml", "go", "--id", "r")
        file = self.export("r", "--no-redact")
        self.elsewhere()
        environment = self.environment
        self.environment = lambda: {**environment(), "HOST_API_KEY": secret}
        said = self.refused("import", file, code=2, says="a secret that is known here")
        self.assertNotIn(secret, said.stdout + said.stderr)
        self.assertEqual(self.ok("ls").stdout, "")

    def test_a_redacted_run_is_not_driven(self):
        self.gated()
        process = self.start("run", "gated.yaml", KEY, "--id", "r")
        self.wait_for_keys(1)
        process.kill()
        process.communicate()
        file = self.export("r")
        self.elsewhere()
        self.ok("import", file)
        self.open_gate()
        self.refused("resume", "r", code=6, says="redacted")
        self.refused("cancel", "r", code=6, says="redacted")
        self.assertEqual(len(self.keys()), 1)

    def test_hostile_files(self):
        self.ok("run", self.charter("c", "  - text: Done.\n"), "--id", "r")
        text = self.export("r").read_text()
        lines = text.splitlines(keepends=True)
        flipped = text.replace(lines[2][60:70], lines[2][60:70].swapcase(), 1)
        bad = {"empty": "", "text": "hello\n", "cut": text[:len(text) // 2],
               "headless": "".join(lines[1:]), "tailless": "".join(lines[:-1]),
               "twice": text + text, "order": "".join([lines[0], lines[2], lines[1], *lines[3:]]),
               "flipped": flipped, "deep": "[" * 100000 + "\n",
               "huge": lines[0].replace('"records":', '"records":9999999999') + "".join(lines[1:])}
        self.elsewhere()
        for name, hostile in bad.items():
            file = self.write(name, hostile)
            with self.subTest(name):
                self.refused("import", file, code=2, says=f"{name}: line ")
        self.assertEqual(self.ok("ls").stdout, "")
        self.refused("import", "absent", code=1, says="absent")
        self.refused("import", "/dev/stdin", code=2, says="not a pipe")


if __name__ == "__main__":
    main()
