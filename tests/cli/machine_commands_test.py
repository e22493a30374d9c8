#!/usr/bin/env python3
"""Commands: rule M11. They change a run without a model call, whoever drives it or not."""

import json
import os
import signal
import time

from support import SOURCE, Stage, main

NODES = """\
  triage:
    model: triage
    instructions: Find out.
    state: { schema: { type: object, properties: { severity: { enum: [low, high] } },
             additionalProperties: false }, initial: {} }
    next: { escalate: fix }
    workers: { watcher: { node: watch } }
    commands:
      set_severity:
        description: Says how bad it is.
        input: { type: object, required: [severity],
                 properties: { severity: { enum: [low, high] } } }
        do: [{ patch: { severity: { $input: /severity } } }, { transition: escalate }]
      note: { do: [{ patch: { severity: { $input: /severity } } }] }
      broken: { do: [{ patch: { severity: high } }, { resume: { suspend_id: nobody } }] }
      say: { do: [{ message: { $input: /text } }] }
      watch: { do: [{ spawn: { worker: watcher, input: { $input: "" } } }] }
      pause: { do: [{ suspend: { reason: r, metadata: { $input: "" } } }] }
      open: { do: [{ resume: {} }] }
  fix: { model: fix, instructions: Mend it., commands: { back: { do: [{ message: on }] } } }
  watch:
    worker: true
    model: watch
    instructions: Watch.
    commands: { enough: { do: [{ cede: { $input: /seen } }] } }
"""
SUSPENDS = "  - call: [{ tool: suspend, input: { reason: wait } }]\n"


class Commands(Stage):
    def triage(self, triage=SUSPENDS + "  - text: one\n  - text: two\n  - text: three\n",
               fix="  - text: Mended.\n", watch="  - text: seen\n    delay: 20s\n"):
        models = {"main": "scripted/main.yaml"}
        self.write("main.yaml", "replies: [{ text: nobody asked }]\n")
        for name, replies in (("triage", triage), ("fix", fix), ("watch", watch)):
            self.write(f"{name}.script.yaml", f"replies:\n{replies}")
            models[name] = f"scripted/{name}.script.yaml"
        listed = ", ".join(f"{name}: {target}" for name, target in models.items())
        self.write("m.yaml", f"name: m\nmodels: {{ {listed} }}\nstart: triage\nnodes:\n{NODES}")
        return "m.yaml"

    def tree(self, run):
        tree = json.loads(self.ok("tree", run, "--json").stdout)
        return {one["id"]: one for one in tree["instances"]}

    def count(self, run, kind):
        return sum(event["type"] == kind for event in self.events(run))

    def steps(self, run, reason):
        return sum(one["type"] == "step_ended" and one["yield"] == reason
                   for event in self.events(run) for one in event["decisions"])

    def test_m11_a_command_changes_a_run_that_nobody_drives(self):
        self.ok("run", self.triage(), "--id", "r", code=4)
        before = self.summary("r")["usage"]["model_calls"]
        said = self.ok("command", "r", "set_severity", '{"severity":"high"}')
        self.assertIn("pawl resume r", said.stdout)
        root = self.tree("r")["i1"]
        self.assertEqual(root["node"], "fix")
        self.assertEqual(self.summary("r")["usage"]["model_calls"], before)
        self.assertEqual(self.steps("r", "command"), 1)
        self.assertEqual(self.status("r"), "waiting")
        self.assertIn("Mended.", self.ok("resume", "r").stdout)
        self.assertIn("same", self.ok("replay", "r").stdout)

    def test_m11_refusals_change_nothing(self):
        self.ok("run", self.triage(), "--id", "r", code=4)
        length = len(self.events("r"))
        self.refused("command", "r", "broken", code=1, says="suspended as")
        self.refused("command", "r", "nothing", code=1, says="has no command nothing; it has")
        self.refused("command", "r", "set_severity", '{"severity":"worse"}', code=1,
                     says="the input does not fit")
        self.refused("command", "r", "set_severity", code=1, says="the input does not fit")
        self.refused("command", "r", "note", "{", code=2, says="JSON")
        self.refused("command", "r", "note", "{}", "--instance", "i9", code=1,
                     says="no instance i9")
        self.refused("command", "r", "note", "{}", "--instance", "nine", code=2, says="nine")
        self.assertEqual(len(self.events("r")), length)
        self.assertEqual(self.tree("r")["i1"]["state"], {})

    def test_m11_a_patch_alone_leaves_the_run_as_it_waits(self):
        self.ok("run", self.triage(), "--id", "r", code=4)
        self.ok("command", "r", "note", '{"severity":"low"}')
        self.assertEqual(self.tree("r")["i1"]["state"], {"severity": "low"})
        self.assertEqual(self.events("r")[-1]["stop_reason"], "event")
        suspend_id = self.tree("r")["i1"]["suspend_id"]
        self.ok("resume", "r", "--instance", "i1", "--suspend-id", suspend_id)
        self.assertEqual(self.status("r"), "done")

    def test_m11_a_command_is_decided_by_the_process_that_drives(self):
        charter = self.triage(triage="  - text: slow\n    delay: 60s\n")
        driver = self.start("run", charter, "--id", "r")
        self.wait_for(lambda: self.pawl("tree", "r", "--json").returncode == 0, "the run")
        self.ok("command", "r", "note", '{"severity":"low"}')
        self.assertEqual(self.tree("r")["i1"]["state"], {"severity": "low"})
        self.ok("command", "r", "watch", '"the log"')
        self.assertEqual(self.tree("r")["i2"]["node"], "watch")
        said = json.loads(self.ok("command", "r", "enough", '{"seen":"smoke"}', "--instance",
                                  "i2", "--json").stdout)
        self.assertEqual(said["state"], "decided")
        self.assertNotIn("i2", self.tree("r"))
        self.ok("command", "r", "set_severity", '{"severity":"high"}')
        out, _ = self.end(driver, 0)
        self.assertIn("Mended.", out)
        self.assertEqual(self.steps("r", "command"), 4)
        self.refused("command", "r", "note", "{}", code=1, says="over")

    def test_m11_what_a_driver_refuses_is_told(self):
        driver = self.start("run", self.triage(triage="  - text: slow\n    delay: 60s\n"),
                            "--id", "r")
        self.wait_for(lambda: self.pawl("tree", "r", "--json").returncode == 0, "the run")
        self.refused("command", "r", "open", code=1, says="not suspended")
        self.ok("cancel", "r")
        self.end(driver, 130)

    def test_m11_a_driver_that_stands_still_decides_later_and_once(self):
        driver = self.start("run", self.triage(triage="  - text: slow\n    delay: 60s\n"),
                            "--id", "r")
        self.wait_for(lambda: self.pawl("tree", "r", "--json").returncode == 0, "the run")
        os.kill(driver.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            said = self.refused("command", "r", "say", '{"text":"x"}', code=4,
                                says="not decided yet")
            self.assertGreaterEqual(time.monotonic() - began, 9)
            self.assertEqual(said.stdout, "")
        finally:
            os.kill(driver.pid, signal.SIGCONT)
        self.wait_for(lambda: self.count("r", "command_given") == 1, "the decision")
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        self.ok("command", "r", "say", '{"text":"y"}')
        self.assertEqual(self.count("r", "command_given"), 2)
        self.ok("verify", "r")

    def test_m11_a_run_whose_process_was_killed_is_changed_without_being_driven(self):
        driver = self.start("run", self.triage(triage="  - text: slow\n    delay: 60s\n"),
                            "--id", "r")
        self.wait_for(lambda: self.pawl("tree", "r", "--json").returncode == 0, "the run")
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        self.ok("command", "r", "set_severity", '{"severity":"high"}')
        self.assertEqual(self.tree("r")["i1"]["node"], "fix")
        self.assertEqual(self.summary("r")["usage"]["model_calls"], 1)
        self.assertIn("Mended.", self.ok("resume", "r").stdout)
        self.assertIn("same", self.ok("replay", "r").stdout)

    def test_m11_the_default_target_is_the_deepest_live_primary(self):
        self.write("root.yaml", "replies:\n"
                   "  - call: [{ tool: spawn_talk, input: { input: x } }]\n  - text: done\n")
        self.write("child.yaml", f"replies:\n{SUSPENDS}  - text: bye\n")
        self.write("d.yaml", "name: d\nmodels: { a: scripted/root.yaml, b: scripted/child.yaml }\n"
                   "start: root\nnodes:\n"
                   "  root: { model: a, instructions: x, children: { talk: { node: child } },"
                   " commands: { who: { do: [{ message: root }] } } }\n"
                   "  child: { model: b, instructions: y,"
                   " commands: { who: { do: [{ resume: {} }, { message: child }] } } }\n")
        self.ok("run", "d.yaml", "--id", "r", code=4)
        self.ok("command", "r", "who")
        self.assertEqual(self.events("r")[-2]["instance"], "i2")
        self.ok("resume", "r")
        self.assertEqual(self.status("r"), "done")

    def test_m11_two_terminals_at_once(self):
        self.ok("run", self.triage(), "--id", "r", code=4)
        both = [self.start("command", "r", "say", json.dumps({"text": f"t{n}"}))
                for n in range(4)]
        for process in both:
            self.end(process, 0)
        self.assertEqual(self.count("r", "command_given"), 4)
        self.ok("verify", "r")

    def test_m11_a_command_that_a_host_has_the_function_for_is_refused_by_name(self):
        self.write("main.yaml", "replies: [{ text: hi }]\n")
        self.write("h.yaml", "name: h\nmodels: { main: scripted/main.yaml }\nnodes:\n"
                   "  n: { instructions: x, commands: { restock: { description: y } } }\n")
        self.refused("run", "h.yaml", code=2, says="the command restock of the node n")

    def test_m11_commands_of_the_owned_shop(self):
        shop = SOURCE / "examples/machine/owned.yaml"
        self.ok("run", shop, "Order two.", "--id", "shop", code=4)
        self.ok("state", "shop", "--set", '{"stock": 8}')
        self.ok("command", "shop", "restock", '{"amount": 3}')
        self.assertEqual(self.tree("shop")["i1"]["state"], {"stock": 8})
        self.ok("command", "shop", "end")
        self.assertEqual(self.tree("shop")["i1"]["node"], "closed")
        self.ok("resume", "shop")
        self.assertEqual(self.status("shop"), "done")


if __name__ == "__main__":
    main()
