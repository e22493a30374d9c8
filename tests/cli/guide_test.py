#!/usr/bin/env python3
"""Every command of docs/guide-machine.md is run, in order, and prints what the guide says."""

import re
import shlex
import shutil
import subprocess

from support import PATIENCE_S, PAWL, SOURCE, Stage, main

GUIDE = SOURCE / "docs/guide-machine.md"
EXIT = re.compile(r"^\(exit code (\d+)\)$")


def sessions():
    """(command line, expected lines, exit code) of every `$ pawl …` in a console block."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", GUIDE.read_text(encoding="utf-8"),
                            re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], [], 0))
                continue
            command, lines, code = found[-1]
            exit_code = EXIT.match(line)
            found[-1] = (command, lines, int(exit_code[1])) if exit_code else \
                (command, lines + [line], code)
    return found


def fits(told, lines):
    """What varies, such as a time, stands as … in the guide; a line … stands for any lines."""
    pattern = "".join("(?:.*\n)*" if line == "…" else
                      ".*".join(re.escape(part) for part in line.split("…")) + "\n"
                      for line in lines)
    return re.fullmatch(pattern, told) is not None


class Guide(Stage):
    def test_what_the_guide_shows_is_what_is_printed(self):
        shutil.copytree(SOURCE / "examples", self.directory / "examples")
        seen = sessions()
        self.assertGreater(len(seen), 12)
        for command, lines, code in seen:
            words = shlex.split(command)
            self.assertEqual(words[0], "pawl", command)
            done = subprocess.run([PAWL, *words[1:]], cwd=self.directory, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, env=self.environment(),
                                  timeout=PATIENCE_S)
            told = done.stdout.rstrip("\n") + "\n" if done.stdout.strip() else ""
            self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}")
            self.assertTrue(fits(told, lines), f"$ {command}\n--- printed\n{done.stdout}\n"
                            "--- the guide\n"
                            + "\n".join(lines))


if __name__ == "__main__":
    main()
