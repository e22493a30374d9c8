#!/usr/bin/env python3
"""Charters with several nodes, from outside: transitions, workers, children, states, suspension."""

import json
import signal
import time

from support import Stage, main


class Machine(Stage):
    def machine(self, nodes, scripts, more=""):
        """A charter of `nodes`, each with a script of its own in `scripts`."""
        models = {"main": "scripted/main.yaml"}
        self.write("main.yaml", "replies:\n  - text: nobody asked\n")
        for name, replies in scripts.items():
            self.write(f"{name}.script.yaml", f"replies:\n{replies}")
            models[name] = f"scripted/{name}.script.yaml"
        listed = ", ".join(f"{name}: {target}" for name, target in models.items())
        self.write("m.yaml", f"name: m\nmodels: {{ {listed} }}\n{more}nodes:\n{nodes}")
        return "m.yaml"

    def decisions(self, run, kind):
        return [one for event in self.events(run) for one in event["decisions"]
                if one["type"] == kind]

    def tree(self, run):
        tree = json.loads(self.ok("tree", run, "--json").stdout)
        return {one["id"]: one for one in tree["instances"]}

    def last_request(self, run):
        return self.events(run)[-1]

    def test_a_transition_changes_instructions_models_and_state(self):
        charter = self.machine(
            "  triage:\n    model: triage\n    instructions: Find out.\n"
            "    next: { escalate: { to: fix, description: It is severe. } }\n"
            "  fix:\n    model: fix\n    instructions: Mend it.\n"
            "    state: { schema: { type: object, properties: { severity: { enum: [low, high] } },"
            " additionalProperties: false }, initial: {} }\n",
            {"triage": "  - call: [{ tool: transition_escalate,"
                       " input: { state: { severity: high } } }]\n",
             "fix": "  - call: [{ tool: update_state, input: { patch: { severity: worse } } }]\n"
                    "  - call: [{ tool: update_state, input: { patch: { severity: low } } }]\n"
                    "  - text: Mended.\n"},
            "start: triage\n")
        said = self.ok("run", charter, "--id", "r")
        self.assertIn("Mended.", said.stdout)
        entered = self.decisions("r", "node_entered")
        self.assertEqual([one["node"] for one in entered], ["fix"])
        refused = self.decisions("r", "call_refused")
        self.assertEqual(len(refused), 1)
        self.assertIn("/severity", refused[0]["text"])
        root = self.tree("r")["i1"]
        self.assertEqual((root["node"], root["state"]), ("fix", {"severity": "low"}))
        self.assertIn("same", self.ok("replay", "r").stdout)

    def test_five_workers_deliver_five_contents_in_order(self):
        spawn = ", ".join("{ tool: spawn_watcher, input: { input: " + f"n{i}" + " } }"
                          for i in range(5))
        charter = self.machine(
            "  root:\n    model: root\n    instructions: Lead.\n"
            "    workers: { watcher: { node: watch } }\n"
            "  watch: { worker: true, model: watch, instructions: Watch. }\n",
            {"root": f"  - call: [{spawn}]\n  - text: waiting\n  - text: one\n  - text: two\n"
                     "  - text: three\n  - text: four\n  - text: five\n",
             "watch": "  - call: [{ tool: cede, input: { content: { seen: 1 } } }]\n"},
            "start: root\n")
        self.ok("run", charter, "--id", "r")
        ended = self.decisions("r", "instance_ended")
        self.assertEqual([one["how"] for one in ended], ["ceded"] * 5)
        delivered = sum(one["count"] for one in self.decisions("r", "contents_delivered"))
        self.assertEqual(delivered, 5)
        tree = self.tree("r")
        self.assertEqual(sorted(tree), ["i1", "i2", "i3", "i4", "i5", "i6"])
        self.assertTrue(all(tree[f"i{n}"]["worker"] for n in range(2, 7)))
        self.assertIn("i3 watch (worker)", self.ok("tree", "r").stdout)

    def test_a_worker_that_fails_hurts_no_sibling(self):
        charter = self.machine(
            "  root:\n    model: root\n    instructions: Lead.\n"
            "    workers: { good: { node: good }, bad: { node: bad } }\n"
            "  good: { worker: true, model: good, instructions: Watch. }\n"
            "  bad: { worker: true, model: bad, instructions: Watch. }\n",
            {"root": "  - call: [{ tool: spawn_bad, input: { input: x } },"
                     " { tool: spawn_good, input: { input: x } }]\n"
                     "  - text: a\n  - text: b\n  - text: c\n",
             "good": "  - text: All is well.\n    delay: 300ms\n",
             "bad": "  - error: { category: validation_error, message: no such thing }\n"},
            "start: root\n")
        self.ok("run", charter, "--id", "r")
        self.assertEqual(sorted(one["how"] for one in self.decisions("r", "instance_ended")),
                         ["ceded", "failed"])

    def test_a_child_takes_over_and_a_suspension_is_answered(self):
        charter = self.machine(
            "  root:\n    model: root\n    instructions: Lead.\n"
            "    children: { talk: { node: talker } }\n"
            "  talker: { model: talker, instructions: Ask them. }\n",
            {"root": "  - call: [{ tool: spawn_talk, input: { input: ask } }]\n"
                     "  - text: Thank you.\n",
             "talker": "  - call: [{ tool: suspend, input: { reason: a key } }]\n"
                       "  - text: They said so.\n"},
            "start: root\n")
        self.ok("run", charter, "--id", "r", code=4)
        child = self.tree("r")["i2"]
        self.assertEqual((child["phase"], child["parent"]), ("suspended", "i1"))
        waiting = self.events("r")[-1]
        self.assertEqual(waiting["suspended"],
                         [{"instance": "i2", "suspend_id": child["suspend_id"],
                           "reason": "a key", "metadata": ""}])
        self.refused("resume", "r", "--instance", "i9", "--suspend-id", "x", code=1,
                     says="no instance i9")
        self.refused("resume", "r", "--instance", "i1", "--suspend-id", "x", code=1,
                     says="not suspended")
        self.refused("resume", "r", "--instance", "i2", "--suspend-id", "x", code=1,
                     says="suspended as")
        self.ok("resume", "r", "--instance", "i2", "--suspend-id", child["suspend_id"],
                "--message", "it is 7")
        self.assertEqual(self.status("r"), "done")
        self.assertIn("same", self.ok("replay", "r").stdout)

    def test_a_state_that_is_owned_outside_is_set_from_outside(self):
        charter = self.machine(
            "  root:\n    model: root\n    instructions: Lead.\n"
            "    state: { schema: { type: object, properties: { n: { type: integer } },"
            " additionalProperties: false }, initial: {}, owner: external }\n",
            {"root": "  - call: [{ tool: update_state, input: { patch: { n: 1 } } },"
                     " { tool: suspend, input: { reason: owner } }]\n  - text: Done.\n"})
        self.ok("run", charter, "--id", "r", code=4)
        self.assertEqual(self.decisions("r", "state_proposed")[0]["proposal"], 1)
        self.assertEqual(self.tree("r")["i1"]["state"], {})
        self.refused("state", "r", "--set", '{"n":"x"}', code=1, says="would not fit")
        self.ok("state", "r", "--set", '{"n":2}')
        self.assertEqual(self.tree("r")["i1"]["state"], {"n": 2})

    def test_a_kill_loses_no_content_and_doubles_none(self):
        self.write("slow.sh", "#!/bin/sh\nsleep 0.1\necho ok\n", 0o755)
        spawn = ", ".join("{ tool: spawn_watcher, input: { input: " + f"n{i}" + " } }"
                          for i in range(4))
        charter = self.machine(
            "  root:\n    model: root\n    instructions: Lead.\n"
            "    workers: { watcher: { node: watch } }\n"
            "  watch: { worker: true, model: watch, instructions: Watch. }\n",
            {"root": f"  - call: [{spawn}]\n" + "  - text: on\n" * 9,
             "watch": "  - call: [{ tool: slow, input: {} }]\n  - text: seen\n    delay: 50ms\n"},
            "start: root\ntools: { define: { slow: { description: s, command: [./slow.sh],"
            " effect: idempotent, input: { type: object } } } }\n")
        process = self.start("run", charter, "--id", "r")
        for _ in range(4):
            time.sleep(0.3)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if self.pawl("show", "r", "--json").returncode == 0 and self.status("r") == "done":
                break
            process = self.start("resume", "r")
        process.communicate()
        if self.status("r") != "done":
            self.ok("resume", "r")
        ended = [one["instance"] for one in self.decisions("r", "instance_ended")]
        self.assertEqual(sorted(ended), ["i2", "i3", "i4", "i5"])
        self.assertEqual(sum(one["count"] for one in self.decisions("r", "contents_delivered")), 4)
        self.assertIn("same", self.ok("replay", "r").stdout)

    def test_messages_reach_the_instance_they_name(self):
        charter = self.machine(
            "  root:\n    model: root\n    instructions: Lead.\n    next: { go: other }\n"
            "  other: { model: main, instructions: Rest. }\n",
            {"root": "  - call: [{ tool: suspend, input: { reason: r } }]\n  - text: Done.\n"},
            "start: root\n")
        self.ok("run", charter, "--id", "r", code=4)
        self.refused("message", "r", "hello", "--instance", "i7", code=1, says="no instance i7")
        self.refused("message", "r", "hello", "--urgent", "--silent", code=2, says="not both")
        for n in range(3):
            self.ok("message", "r", f"frame {n}", "--singleton", "camera")
        suspend_id = self.tree("r")["i1"]["suspend_id"]
        self.ok("resume", "r", "--instance", "i1", "--suspend-id", suspend_id)
        self.assertEqual([one["count"] for one in self.decisions("r", "message_replaced")], [2, 3])


if __name__ == "__main__":
    main()
