#!/usr/bin/env python3
"""Charters and scripts that mean harm: refused with a place, quickly, and nothing is run."""

import time

from support import Stage, main

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9))

HOSTILE = {
    "bomb": BOMB.encode(),
    "self_alias": b"name: &a [*a]\n",
    "deep_flow": b"name: " + b"[" * 100_000,
    "deep_block": b"".join(b" " * i + b"a:\n" for i in range(2000)),
    "huge_string": b"name: " + b"x" * (5 << 20),
    "bad_utf8": b"name: \xff\xfe\xc0\x80\n",
    "nul": b"name: a\x00b\n",
    "duplicate_keys": b"name: a\nname: b\n",
    "wrong_types": b"name: [a]\nmodels: 3\nlimits: yes\ntools: x\ninstructions: { a: 1 }\n",
    "two_documents": b"name: a\n---\nname: b\n",
    "tag": b"name: !!python/object/apply:os.system ['id']\n",
    "merge": b"x: &x { a: 1 }\n<<: *x\n",
    "list": b"- a\n",
    "scalar": b"hello\n",
    "empty": b"",
    "binary": bytes(range(256)),
    "tabs": b"name:\n\t- a\n",
    "numbers": b"name: a\nlimits: { steps: 1e99, time: -3s, tokens: 99999999999999999999999 }\n",
    "escape_model": b"name: a\nmodels: { main: scripted/ }\ninstructions: x\n",
    "terminal": b"name: a\n\"\\e[2J\\u202e\": 1\n",
}


class Hostile(Stage):
    def refuses(self, name, path):
        began = time.monotonic()
        for command in ("validate", "run"):
            result = self.pawl(command, path)
            said = result.stdout + result.stderr
            self.assertEqual(result.returncode, 2, f"{name}: {said[:500]}")
            self.assertIn(".yaml", said, name)
            self.assertLess(len(said), 200_000, name)
            self.assertNotIn("\x1b", said, name)
            self.assertNotIn("\u202e", said, name)
        self.assertLess(time.monotonic() - began, 20, name)
        self.assertFalse(self.data.exists(), name)

    def test_hostile_charters(self):
        for name, text in HOSTILE.items():
            with self.subTest(name):
                (self.directory / f"{name}.yaml").write_bytes(text)
                self.refuses(name, f"{name}.yaml")

    def test_hostile_scripts(self):
        for name, text in HOSTILE.items():
            with self.subTest(name):
                self.charter("c", "")
                (self.directory / "c.script.yaml").write_bytes(text)
                self.refuses(name, "c.yaml")

    def test_charters_that_are_no_files(self):
        self.refused("run", "/dev/zero", code=2, says="longer than")
        self.refused("run", str(self.directory), code=2, says="cannot be read")
        self.refused("run", "not-there", code=2, says="not-there")

    def test_input_that_is_not_text(self):
        self.charter("c", "  - text: x\n")
        (self.directory / "binary").write_bytes(b"\xff\xfe")
        self.refused("run", "c.yaml", "@binary", code=2, says="UTF-8")
        self.refused("run", "c.yaml", "@not-there", code=2, says="not-there")
        self.refused("run", "c.yaml", "@/dev/zero", code=2, says="longer than")


if __name__ == "__main__":
    main()
