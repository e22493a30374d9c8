#!/usr/bin/env python3
"""Every command line in the documents names a command and options that exist; those of the README
that need no provider and no other run are run."""

import functools
import re
import shutil

from support import SOURCE, Stage, main

PAGES = ["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md",
         *sorted(f"docs/{page.name}" for page in (SOURCE / "docs").glob("*.md"))]
# A line of an indented or fenced block, or a span of code.
LINE = re.compile(r"^(?: {4}|\$ |)\s*(?:\./)?pawl ([a-z][a-z-]*)(?= |$)(.*)$", re.MULTILINE)
SPAN = re.compile(r"`(?:\./)?pawl ([a-z][a-z-]*)(?=[ `])([^`\n]*)`")


def command_lines():
    for page in PAGES:
        text = (SOURCE / page).read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"^```(?:sh|)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
        indented = "\n".join(re.findall(r"^ {4}\S.*$", text, re.MULTILINE))
        for match in [*LINE.finditer(blocks), *LINE.finditer(indented), *SPAN.finditer(text)]:
            yield page, match[1], match[2].split("#")[0]


class Documents(Stage):
    @functools.lru_cache(maxsize=None)
    def help_of(self, command):
        return self.pawl(command, "--help")

    def test_command_lines_name_what_exists(self):
        seen = 0
        for page, command, rest in command_lines():
            seen += 1
            told = self.help_of(command)
            self.assertEqual(told.returncode, 0, f"{page}: pawl {command}{rest}\n{told.stderr}")
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest):
                self.assertIn(option, told.stdout, f"{page}: pawl {command}{rest}")
        self.assertGreater(seen, 150)

    def test_the_payment_of_the_readme(self):
        shutil.copytree(SOURCE / "examples/pay", self.directory / "pay")
        self.ok("run", "pay/pay.yaml", "--id", "06f3ab")
        for words in (["ls"], ["resume", "06f3"], ["explain", "06f3"], ["verify", "06f3"],
                      ["replay", "06f3"], ["models"], ["approvals"], ["sim", "--seeds", "1"]):
            self.ok(*words)


if __name__ == "__main__":
    main()
