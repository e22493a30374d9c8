"""Plants one violation at a time in a small clean tree: tidy must report it, and nothing else."""

import pathlib
import re
import subprocess
import sys
import tempfile

TIDY = pathlib.Path(__file__).resolve().parents[2] / "tools" / "tidy.py"

CLEAN = {
    "CMakeLists.txt": "".join(f"pawl_directory(src/pawl/{d})\n" for d in (
        "base", "kernel", "port", "gate", "run", "service", "adapter/asio",
        "testing/journal_memory", "testing/executor_scripted", "surface/cli", "app")),
    "README.md": "# Title\n\n```sh\n# a comment, not a title\n```\n",
    "docs/transitions.md": "# Transitions\n\ncreated: started\n",
    "docs/notes/cases/D.md": "# D\n\n| sc-D01 | `src/pawl/base/text_test.cc: \"length\"` |\n",
    "tools/tidy_untested.txt": "src/pawl/app/main.cc: composition only\n",
    "src/pawl/base/CMakeLists.txt": "pawl_layer(base SOURCES text.cc)\npawl_tests(base FILES\n"
                                    "  text_test.cc)\n",
    "src/pawl/base/text.h": "#pragma once\nint length();\n",
    "src/pawl/base/text.cc": '#include "pawl/base/text.h"\nint length() { return 1\'000; }\n',
    "src/pawl/base/text_test.cc": '#include "pawl/base/text.h"\nTEST_CASE("length") {}\n',
    "src/pawl/kernel/CMakeLists.txt": "pawl_layer(kernel SOURCES run.cc SEES base)\n"
                                      "pawl_tests(kernel FILES run_test.cc)\n",
    "src/pawl/kernel/run.h": '#pragma once\n#include "pawl/base/text.h"\nstruct Run {};\n',
    "src/pawl/kernel/run.cc": '#include "pawl/kernel/run.h"\n// time() is named, not called.\n'
                              "int at(const Run& run) { return run.time(); }\n",
    "src/pawl/kernel/run_test.cc": '#include "pawl/kernel/run.h"\n'
                                   '#include "pawl/testing/journal_memory/journal.h"\n',
    "src/pawl/port/CMakeLists.txt": "pawl_layer(port SEES base kernel)\n",
    "src/pawl/port/journal.h": '#pragma once\n#include "pawl/kernel/run.h"\nstruct Journal {};\n',
    "include/pawl/loop.h": "#pragma once\n",
    "include/pawl/pawl.h": '#pragma once\n#include "pawl/loop.h"\n',
    "src/pawl/gate/README.md": "# gate\n",
    "src/pawl/gate/CMakeLists.txt": "pawl_layer(gate SEES base port)\n",
    "src/pawl/gate/gate.h": '#pragma once\n#include "pawl/port/journal.h"\n',
    "src/pawl/run/README.md": "# run\n",
    "src/pawl/run/CMakeLists.txt": "pawl_layer(run SOURCES pump.cc SEES port gate)\n"
                                   "pawl_tests(run FILES pump_test.cc)\n",
    "src/pawl/run/pump.h": '#pragma once\n#include "pawl/gate/gate.h"\n'
                           "namespace pawl {\nstruct Pump {\n};\n}\n",
    "src/pawl/run/pump.cc": '#include "pawl/run/pump.h"\n',
    "src/pawl/run/pump_test.cc": '#include "pawl/run/pump.h"\n',
    "src/pawl/service/README.md": "# service\n",
    "src/pawl/service/CMakeLists.txt": "pawl_layer(service SEES run)\n",
    "src/pawl/service/service.h": '#pragma once\n#include "pawl/run/pump.h"\n',
    "src/pawl/adapter/asio/CMakeLists.txt": "pawl_layer(asio SEES port)\n",
    "src/pawl/adapter/asio/loop.h": '#pragma once\n#include "pawl/port/journal.h"\n',
    "src/pawl/testing/journal_memory/CMakeLists.txt": "pawl_layer(journal_memory SEES port)\n",
    "src/pawl/testing/journal_memory/journal.h": '#pragma once\n#include "pawl/port/journal.h"\n',
    "src/pawl/testing/executor_scripted/CMakeLists.txt":
        "pawl_layer(executor_scripted SOURCES script.cc SEES port)\n"
        "pawl_tests(executor_scripted FILES script_test.cc)\n",
    "src/pawl/testing/executor_scripted/script.h":
        "#pragma once\n",
    "src/pawl/testing/executor_scripted/script.cc":
        '#include "pawl/testing/executor_scripted/script.h"\n',
    "src/pawl/testing/executor_scripted/script_test.cc": "\n",
    "src/pawl/surface/cli/CMakeLists.txt": "pawl_layer(cli SOURCES cli.cc SEES service)\n"
                                           "pawl_tests(cli FILES cli_test.cc)\n",
    "src/pawl/surface/cli/cli.h": '#pragma once\n#include "pawl/service/service.h"\n',
    "src/pawl/surface/cli/cli.cc": '#include "pawl/surface/cli/cli.h"\n'
                                   "void hello() { std::cout << 1; }\n",
    "src/pawl/surface/cli/cli_test.cc": "\n",
    "src/pawl/app/CMakeLists.txt": "pawl_program(pawl SOURCES main.cc extra.cc)\n",
    "src/pawl/app/main.cc": '#include "pawl/testing/journal_memory/journal.h"\n'
                            '#include "pawl/adapter/asio/loop.h"\n'
                            '#include "pawl/surface/cli/cli.h"\n',
}

BASE, KERNEL, PORT = "src/pawl/base/text.cc", "src/pawl/kernel/run.cc", "src/pawl/port/journal.h"
GATE = "src/pawl/gate/gate.h"
RUN, CLI = "src/pawl/run/pump.cc", "src/pawl/surface/cli/cli.cc"
EXECUTOR = "src/pawl/testing/executor_scripted/script.cc"
ASIO = "pawl/adapter/asio/loop.h"
MEMORY = "pawl/testing/journal_memory/journal.h"
LONG_BODY = "int f() {\n" + "  g();\n" * 69 + "}\n"

# (check, file, text put at its end, line of the finding counted from the first planted one)
PLANTED = [
    ("layers", BASE, '#include "pawl/kernel/run.h"\n', 0),
    ("layers", KERNEL, '#include "pawl/port/journal.h"\n', 0),
    ("layers", PORT, '#include "pawl/run/pump.h"\n', 0),
    ("layers", RUN, f'#include "{MEMORY}"\n', 0),
    ("layers", RUN, '#include "pawl/surface/cli/cli.h"\n', 0),
    ("layers", RUN, f'#include "{ASIO}"\n', 0),
    ("layers", RUN, '#include "pawl/service/service.h"\n', 0),
    ("layers", GATE, '#include "pawl/run/pump.h"\n', 0),
    ("layers", "src/pawl/service/service.h", '#include "pawl/gate/gate.h"\n', 0),
    ("layers", "src/pawl/gate/CMakeLists.txt", "pawl_layer(more SEES port run)\n", 0),
    ("layers", "src/pawl/gate/CMakeLists.txt", "pawl_layer(more SEES cli)\n", 0),
    ("layers", "src/pawl/adapter/asio/loop.h", '#include "pawl/run/pump.h"\n', 0),
    ("layers", "src/pawl/adapter/asio/loop.h", f'#include "{MEMORY}"\n', 0),
    ("layers", EXECUTOR, f'#include "{ASIO}"\n', 0),
    ("layers", EXECUTOR, '#include "pawl/surface/cli/cli.h"\n', 0),
    ("layers", CLI, f'#include "{ASIO}"\n', 0),
    ("layers", CLI, f'#include "{MEMORY}"\n', 0),
    ("layers", BASE, '#include "text.h"\n', 0),
    ("layers", CLI, "#include <pawl/pawl.h>\n", 0),
    ("layers", "src/pawl/kernel/CMakeLists.txt", "pawl_layer(more SEES base run)\n", 0),
    ("layers", BASE, '#include "pawl/loop.h"\n', 0),
    ("layers", "include/pawl/loop.h", '#include "pawl/pawl.h"\n', 0),
    ("public", "include/pawl/loop.h", '#include "pawl/port/journal.h"\n', 0),
    ("public", "include/pawl/loop.h", "#include <pawl/port/journal.h>\n", 0),
    ("public", "include/pawl/loop.h", "#include <boost/asio.hpp>\n", 0),
    ("public", "include/pawl/spare.h", "#pragma once\n", 0),
    ("public", "include/pawl/more/loop.h", "#pragma once\n", 0),
    ("room", "src/pawl/models/model_test.h", "#pragma once\n", 0),
    ("reach", CLI, '#include "pawl/run/pump.h"\n', 0),
    ("reach", CLI, "void look(Service& service) { service.engine().store(); }\n", 0),
    ("reach", CLI, "#include <unistd.h>\n", 0),
    ("reach", RUN, "#include <sys/stat.h>\n", 0),
    ("reach", "tools/tidy_reach.txt", "system src/pawl/run/gone.cc: no reason\n", 0),
    ("purity", KERNEL, "#include <chrono>\n", 0),
    ("purity", KERNEL, "#include <boost/json.hpp>\n", 0),
    ("purity", KERNEL, "#include <sqlite3.h>\n", 0),
    ("purity", KERNEL, "long now() { return std::time(nullptr); }\n", 0),
    ("purity", KERNEL, 'const char* home() { return getenv("HOME"); }\n', 0),
    ("vocabulary", BASE, "int tool_count = 0;\n", 0),
    ("vocabulary", BASE, "struct RunId {};\n", 0),
    ("vocabulary", EXECUTOR, "int next_lane();\n", 0),
    ("vocabulary", EXECUTOR, "struct CharterView {};\n", 0),
    ("vocabulary", RUN, "int backoff_ms = 2;\n", 0),
    ("vocabulary", RUN, "int attempts_max = 2;\n", 0),
    ("vocabulary", RUN, "int step_limit = 2;\n", 0),
    ("columns", BASE, "// " + "x" * 98 + "\n", 0),
    ("file-size", BASE, "//\n" * 599, 598),
    ("function-size", BASE, LONG_BODY, 0),
    ("function-size", BASE, "namespace n {\nclass C {\n public:\n  " + LONG_BODY + "};\n}\n", 3),
    ("words", BASE, "void f() { std::cerr << 1; }\n", 0),
    ("words", "src/pawl/base/text_test.cc", "void f() { std::this_thread::sleep_for(x); }\n", 0),
    ("words", "src/pawl/base/text.h", "using namespace std;\n", 0),
    ("words", RUN, "auto now = std::chrono::system_clock::now();\n", 0),
    ("words", RUN, "int f() { co_return 1; }\n", 0),
    ("words", RUN, "\n\nvoid f() {\n  try {\n  } catch (...) {\n  }\n}\n", 4),
    ("words", RUN, "// TODO: later\n", 0),
    ("words", RUN, "class RunManager {};\n", 0),
    ("bool-parameter", PORT, "void close(int run,\n           bool hard);\n", 1),
    ("machine", "README.md", "See /home/someone/pawl.\n", 0),
    ("machine", "README.md", "See registry.example.com.\n", 0),
    ("title", "README.md", "# Another\n", 0),
    ("held-by", "docs/notes/cases/D.md", "| sc-D02 | src/pawl/base/gone_test.cc: \"x\" |\n", 0),
    ("held-by", "docs/notes/cases/D.md", '| sc-D02 | `src/pawl/base/text_test.cc: "width"` |\n', 0),
    ("unbuilt", "src/pawl/base/text_more_test.cc", "\n", 0),
    ("unbuilt", "src/pawl/surface/mcp/CMakeLists.txt", "\n", 0),
    ("untested", "src/pawl/app/extra.cc", "\n", 0),
    ("untested", "tools/tidy_untested.txt", "src/pawl/app/gone.cc: it was here\n", 0),
    ("untested", "tools/tidy_untested.txt", "src/pawl/app/main.cc: see no_such_test.cc\n", 0),
    ("dead", "src/pawl/base/forgotten.h", "#pragma once\n", 0),
    ("dead", "NOTE_TO_SELF.txt", "Do not commit.\n", 0),
    ("stale", "docs/notes/rows.md", '# Rows\n\n| A1 | `text_test.cc: "no such sentence"` |\n', 2),
    ("stale", "docs/notes/rows.md", "# Rows\n\n| A1 | `x_test.py: test_nothing` |\n", 2),
    ("one-definition", "src/pawl/surface/cli/cli.h", "namespace pawl {\nstruct Pump {\n};\n}\n", 1),
]
# Near misses: what looks like a violation and is none.
ALLOWED = [
    (RUN, '#include "pawl/gate/gate.h"\n'),
    (EXECUTOR, '#include "pawl/run/pump.h"\n'),
    (EXECUTOR, f'#include "{MEMORY}"\n'),
    (BASE, "// std::cerr in words\nconst char* k = \"std::cerr << TOOL\";\nint plain_run = 0;\n"),
    (BASE, "int f() {\n" + "  g();\n" * 68 + "}\n"),
    ("docs/notes/rows.md", '# Rows\n\nWhat `x_test.cc: "sentence"` means.\n\n| A1 | **open** |\n'),
    (BASE, "const int kTable[] = {\n" + "  1,\n" * 90 + "};\n"),
    (RUN, "void f() {\n  try {\n  } catch (...) {  // The host's bug is an event.\n  }\n}\n"),
    ("src/pawl/base/text_test_support.h", '#include "tests/support/loop.h"\n'),
    ("src/pawl/base/text_test.cc", 'const char* k = R"({"long": "' + "x" * 120 + '"})";\n'),
]


def plant(root, extra):
    files = dict(CLEAN)
    for path, text in extra:
        files[path] = files.get(path, "") + text
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def tidy(root, *arguments):
    done = subprocess.run([sys.executable, "-B", str(TIDY), "--root", str(root), *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
                          timeout=60, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == (1 if lines else 0), done
    return lines


def expect(found, wanted, label):
    short = [re.sub(r"^([^ ]+:\d+: \[[\w-]+\]).*", r"\1", line) for line in found]
    if short == wanted:
        return 0
    print(f"FAILED {label}\n  wanted {wanted}\n  got    {found}")
    return 1


def try_transitions(root):
    plant(root, [])
    program = root / "table"
    program.write_text("#!/bin/sh\necho 'created: started'\n", encoding="utf-8")
    program.chmod(0o755)
    failures = expect(tidy(root, "--transitions", str(program)), [], "fresh transitions")
    program.write_text("#!/bin/sh\necho 'created: cancelled'\n", encoding="utf-8")
    stale = ["docs/transitions.md:1: [stale]"]
    failures += expect(tidy(root, "--transitions", str(program)), stale, "stale transitions")
    failures += expect(tidy(root, "--transitions", str(root / "no")), stale, "no program")
    return failures


def main():
    failures = 0
    cases = [([], [], "clean tree")]
    cases += [([(path, text)], [], f"allowed in {path}: {text[:40]!r}") for path, text in ALLOWED]
    for check, path, text, offset in PLANTED:
        line = CLEAN.get(path, "").count("\n") + 1 + offset
        cases.append(([(path, text)], [f"{path}:{line}: [{check}]"], f"{check} {text[:40]!r}"))
    for extra, wanted, label in cases:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            plant(root, extra)
            failures += expect(tidy(root), wanted, label)
    with tempfile.TemporaryDirectory() as directory:
        failures += try_transitions(pathlib.Path(directory))
    print(f"{len(cases) + 3} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
