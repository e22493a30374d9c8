#!/usr/bin/env python3
"""The rules of charters with several nodes, M1 to M15, a test or more for each, named after it.
M11, commands, is in machine_commands_test.py; M13's ephemeral messages are of the library."""

import json
import os
import signal
import time

from support import Stage, main

WATCH = "  - call: [{ tool: cede, input: { content: { seen: 1 } } }]\n"


class Rules(Stage):
    def machine(self, nodes, scripts, more=""):
        """A charter of `nodes`; each script of `scripts` is a model of that name."""
        models = {}
        for name, replies in scripts.items():
            self.write(f"{name}.script.yaml", f"replies:\n{replies}")
            models[name] = f"scripted/{name}.script.yaml"
        listed = ", ".join(f"{name}: {target}" for name, target in models.items())
        start = "" if "start:" in more else f"start: {next(iter(scripts))}\n"
        self.write("m.yaml", f"name: m\nmodels: {{ {listed} }}\nmodel: {next(iter(scripts))}\n"
                   f"{start}{more}nodes:\n{nodes}")
        return "m.yaml"

    def decisions(self, run, kind):
        return [one for event in self.events(run) for one in event["decisions"]
                if one["type"] == kind]

    def tree(self, run):
        tree = json.loads(self.ok("tree", run, "--json").stdout)
        return {one["id"]: one for one in tree["instances"]}

    def calls_of(self, run, tool):
        """The results of the calls of a tool, in order."""
        numbers = {}
        results = []
        for event in self.events(run):
            for one in event["decisions"]:
                if one["type"] in ("call_opened", "call_answered", "call_refused"):
                    block = event["blocks"][one["index"]]
                    numbers[one["call"]] = block["tool"]
                    if block["tool"] == tool and "text" in one:
                        results.append(one["text"])
            if event["type"] == "tool_finished" and numbers.get(event["call"]) == tool:
                results.append(event["content"])
        return results

    def lead_and_watch(self, lead, watch=WATCH, more="", node=""):
        return self.machine(
            "  lead:\n    model: lead\n    instructions: Lead.\n"
            f"    workers: {{ watcher: {{ node: watch }} }}\n{node}"
            "  watch: { worker: true, model: watch, instructions: Watch. }\n",
            {"lead": lead, "watch": watch}, more)

    # --- M1 to M7: the tree --------------------------------------------------------------------

    def test_m1_faults_of_the_tree_are_found_at_load(self):
        for nodes, says in (
                ("  a: { instructions: x, workers: { w: { node: b } } }\n"
                 "  b: { instructions: y }\n", "worker: true"),
                ("  a: { instructions: x, children: { w: { node: b } } }\n"
                 "  b: { worker: true, instructions: y }\n", "worker"),
                ("  a: { instructions: x, children: { c: { node: b, start: with_node },"
                 " d: { node: b, start: with_node } } }\n  b: { instructions: y }\n",
                 "with_node"),
                ("  a: { instructions: x, workers: { w: { node: b } } }\n"
                 "  b: { worker: true, instructions: y, children: { c: { node: a } } }\n",
                 "children")):
            charter = self.machine(nodes, {"a": "  - text: x\n"})
            told = self.ok("validate", charter, code=2)
            self.assertIn(says, told.stdout + told.stderr)

    def test_m2_a_slow_worker_delays_no_one_and_branches_bound_spawns(self):
        spawn = "{ tool: spawn_watcher, input: { input: x } }"
        charter = self.lead_and_watch(
            f"  - call: [{spawn}, {spawn}]\n" + "  - text: on\n" * 4,
            "  - text: seen\n    delay: 1s\n", "limits: { branches: 1 }\n")
        self.ok("run", charter, "--id", "r")
        texts = self.calls_of("r", "spawn_watcher")
        self.assertIn("no more than 1 instances", texts[1])
        ended = [event for event in self.events("r")
                 if any(one["type"] == "step_ended" and one["instance"] == "i1"
                        for one in event["decisions"])]
        self.assertGreater(len(ended), 1)

    def test_m3_a_transition_replaces_the_node_and_a_second_one_is_refused(self):
        charter = self.machine(
            "  a:\n    model: a\n    instructions: x\n    next: { go: b, stay: c }\n"
            "  b:\n    model: b\n    instructions: y\n"
            "    state: { schema: { type: object }, initial: { n: 1 } }\n"
            "  c: { instructions: z }\n",
            {"a": "  - call: [{ tool: transition_go, input: {} },"
                  " { tool: transition_stay, input: {} }]\n", "b": "  - text: There.\n"})
        self.assertIn("There.", self.ok("run", charter, "--id", "r").stdout)
        self.assertEqual(self.tree("r")["i1"]["state"], {"n": 1})
        self.assertIn("there is one in a reply", self.calls_of("r", "transition_stay")[0])

    def test_m4_a_second_primary_child_is_refused_in_words(self):
        spawn = "{ tool: spawn_talk, input: { input: x } }"
        charter = self.machine(
            "  a: { model: a, instructions: x, children: { talk: { node: b } } }\n"
            "  b: { model: b, instructions: y }\n",
            {"a": f"  - call: [{spawn}, {spawn}]\n  - text: Done.\n", "b": "  - text: Said.\n"})
        self.assertIn("Done.", self.ok("run", charter, "--id", "r").stdout)
        self.assertIn("a child has taken over already", self.calls_of("r", "spawn_talk")[1])

    def test_m5_the_root_cannot_cede_and_a_turn_that_ends_has_ceded(self):
        charter = self.lead_and_watch(
            "  - call: [{ tool: cede, input: { content: x } }]\n"
            "  - call: [{ tool: spawn_watcher, input: { input: x } }]\n"
            "  - { text: on, stop: cede }\n  - { text: end, stop: cede }\n",
            "  - text: The last text.\n")
        self.ok("run", charter, "--id", "r")
        self.assertIn("nobody to cede to", self.calls_of("r", "cede")[0])
        ended = self.decisions("r", "instance_ended")
        self.assertEqual([(one["how"], one["content"]) for one in ended],
                         [("ceded", "The last text.")])
        self.assertEqual(self.summary("r")["reason"], "end_turn")

    def test_m6_a_content_that_comes_during_a_model_call_is_delivered_before_the_next_step(self):
        charter = self.lead_and_watch(
            "  - call: [{ tool: spawn_watcher, input: { input: x } }]\n"
            "  - text: slow\n    delay: 1s\n  - text: heard\n")
        self.assertIn("heard", self.ok("run", charter, "--id", "r").stdout)
        order = [(event["type"], one["type"]) for event in self.events("r")
                 for one in event["decisions"]
                 if one["type"] in ("instance_ended", "contents_delivered")]
        self.assertEqual([kind for _, kind in order], ["instance_ended", "contents_delivered"])

    def test_m7_workers_on_end(self):
        spawn = "  - call: [{ tool: spawn_watcher, input: { input: x } }]\n  - text: Mine.\n"
        slow = "  - text: seen\n    delay: 1s\n"
        for policy, how, output in (("wait", "ceded", "More."), ("cancel", "cancelled", "Mine."),
                                    ("detach", "ceded", "Mine.")):
            charter = self.lead_and_watch(spawn + "  - text: More.\n", slow,
                                          node=f"    workers_on_end: {policy}\n")
            self.ok("run", charter, "--id", policy)
            ended = self.decisions(policy, "instance_ended")
            self.assertEqual([one["how"] for one in ended], [how], policy)
            self.assertEqual(self.summary(policy)["output"], output, policy)
        self.assertEqual(len(self.decisions("detach", "output_ready")), 1)

    # --- M8 to M10: states, suspension ---------------------------------------------------------

    def test_m8_patches_of_one_reply_apply_in_order_and_a_bad_one_changes_nothing(self):
        patch = "{ tool: update_state, input: { patch: %s } }"
        charter = self.machine(
            "  a:\n    model: a\n    instructions: x\n    state: { schema: { type: object,"
            " properties: { n: { type: integer } } }, initial: { n: 0 } }\n",
            {"a": "  - call: [" + ", ".join(patch % one for one in (
                "{ n: 1 }", "{ n: wrong }", "{ m: 2 }", "{ n: null }")) + "]\n  - text: Done.\n"})
        self.ok("run", charter, "--id", "r")
        self.assertEqual(self.tree("r")["i1"]["state"], {"m": 2})
        self.assertIn("would not fit", self.calls_of("r", "update_state")[1])

    def test_m9_a_proposal_and_a_conflict_and_the_word_of_the_owner(self):
        propose = "{ tool: update_state, input: { patch: { n: 1 } } }"
        charter = self.machine(
            "  a:\n    model: a\n    instructions: x\n    state: { schema: { type: object,"
            " properties: { n: { type: integer } } }, initial: { n: 0 }, owner: external }\n",
            {"a": f"  - call: [{propose}, {{ tool: suspend, input: {{ reason: r }} }}]\n"
                  f"  - call: [{propose}]\n    delay: 3s\n  - text: Done.\n"})
        self.ok("run", charter, "--id", "r", code=4)
        self.assertEqual(self.tree("r")["i1"]["state"], {"n": 0})
        self.refused("state", "r", "--set", '{"n":"x"}', code=1, says="would not fit")
        self.refused("state", "r", "--set", "{", code=2, says="JSON")
        self.ok("state", "r", "--set", '{"n":5}', "--instance", "i1")
        suspend_id = self.tree("r")["i1"]["suspend_id"]
        driver = self.start("resume", "r", "--instance", "i1", "--suspend-id", suspend_id)
        self.wait_for(lambda: len(self.decisions("r", "step_began")) == 3, "the second call")
        self.ok("state", "r", "--set", '{"n":6}')
        self.end(driver, 0)
        proposed = [(one["instance"], one["proposal"], one["patch"])
                    for one in self.decisions("r", "state_proposed")]
        self.assertEqual(proposed, [("i1", 1, '{"n":1}')])
        conflicts = [(one["instance"], one["proposal"])
                     for one in self.decisions("r", "state_conflict")]
        self.assertEqual(conflicts, [("i1", 2)])
        self.assertIn("state_conflict", self.calls_of("r", "update_state")[1])
        self.assertEqual(self.tree("r")["i1"]["state"], {"n": 6})

    def test_m10_three_errors_of_a_resume_and_what_the_call_gets(self):
        charter = self.machine(
            "  a: { model: a, instructions: x }\n",
            {"a": "  - call: [{ tool: suspend, input: { reason: a key, metadata: { k: 1 } } }]\n"
                  "  - text: Done.\n"})
        self.ok("run", charter, "--id", "r", code=4)
        last = self.events("r")[-1]
        self.assertEqual([(one["instance"], one["reason"], one["metadata"])
                          for one in last["suspended"]], [("i1", "a key", '{"k":1}')])
        self.assertIn("a key", self.ok("explain", "r").stdout)
        self.assertIn("awaiting_resume",
                      [one["yield"] for one in self.decisions("r", "step_ended")])
        length = len(self.events("r"))
        said = set()
        for words in (("i9", "c1"), ("i1", "c9")):
            said.add(self.refused("resume", "r", "--instance", words[0], "--suspend-id",
                                  words[1], code=1, says="").stderr)
        self.assertEqual(len(said), 2)
        self.assertEqual(len(self.events("r")), length)
        suspend_id = self.tree("r")["i1"]["suspend_id"]
        self.ok("resume", "r", "--instance", "i1", "--suspend-id", suspend_id)
        self.assertEqual(self.status("r"), "done")

    # --- M12: scopes of tools ------------------------------------------------------------------

    def tool(self, name, word):
        return (f"{name}: {{ description: {word}, command: [./say.sh, {word}], effect: pure,"
                " input: { type: object } }")

    def test_m12_the_nearest_definition_is_judged_and_run(self):
        self.write("say.sh", "#!/bin/sh\necho \"$1\"\n", 0o755)
        who = "  - call: [{ tool: who, input: {} }]\n"
        charter = self.machine(
            "  lead:\n    model: lead\n    instructions: x\n"
            f"    define: {{ {self.tool('who', 'lead')} }}\n"
            "    workers: { own: { node: own }, heir: { node: heir } }\n"
            # However many contents come at a time, it leaves when both workers have ended.
            "    next: { out: { to: plain, when: end_turn } }\n"
            "  own: { worker: true, model: own, instructions: y,"
            f" define: {{ {self.tool('who', 'own')} }} }}\n"
            "  heir: { worker: true, model: heir, instructions: z }\n"
            "  plain: { model: plain, instructions: p, packs: [p] }\n",
            {"lead": "  - call: [{ tool: who, input: {} },"
                     " { tool: spawn_own, input: { input: x } },"
                     " { tool: spawn_heir, input: { input: x } }]\n"
                     "  - text: on\n  - text: on\n  - text: on\n",
             "own": who + "  - text: own\n", "heir": who + "  - text: heir\n    delay: 300ms\n",
             "plain": "  - call: [{ tool: who, input: {} }, { tool: extra, input: {} }]\n"
                      "  - text: Done.\n"},
            f"tools: {{ define: {{ {self.tool('who', 'charter')} }} }}\n"
            f"packs: {{ p: {{ define: {{ {self.tool('who', 'pack')}, {self.tool('extra', 'extra')}"
            " } } }\n")
        self.ok("run", charter, "--id", "r")
        said = {}
        for event in self.events("r"):
            if event["type"] == "tool_finished":
                said.setdefault(event["instance"], []).append(event["content"].strip())
        self.assertEqual(said["i2"], ["own"])
        self.assertEqual(said["i3"], ["lead"])
        self.assertEqual(said["i1"][0], "lead")
        self.assertEqual(sorted(said["i1"][1:]), ["charter", "extra"])
        pinned = [(one["name"], one.get("scope", "charter"), one.get("owner", ""))
                  for one in self.events("r")[0]["tools"] if one["name"] == "who"]
        self.assertEqual(sorted(pinned), [("who", "charter", ""), ("who", "node", "lead"),
                                          ("who", "node", "own"), ("who", "pack", "p")])
        opened = {one["instance"]: one.get("owner", "")
                  for one in reversed(self.decisions("r", "call_opened"))}
        self.assertEqual((opened["i2"], opened["i3"]), ("own", "lead"))
        self.assertIn("same", self.ok("replay", "r").stdout)

    def test_m12_a_worker_does_not_see_the_tools_of_a_pack(self):
        self.write("say.sh", "#!/bin/sh\necho \"$1\"\n", 0o755)
        charter = self.machine(
            "  lead:\n    model: lead\n    instructions: x\n    packs: [p]\n"
            "    workers: { w: { node: w } }\n"
            "  w: { worker: true, model: w, instructions: y, packs: [p] }\n",
            {"lead": "  - call: [{ tool: spawn_w, input: { input: x } }, { tool: extra,"
                     " input: {} }]\n  - text: on\n  - text: on\n",
             "w": "  - call: [{ tool: extra, input: {} }]\n  - text: none\n"},
            f"packs: {{ p: {{ define: {{ {self.tool('extra', 'extra')} }} }} }}\n")
        self.ok("run", charter, "--id", "r")
        texts = self.calls_of("r", "extra")
        self.assertTrue(any("unknown tool" in text for text in texts))
        self.assertTrue(any(text.strip() == "extra" for text in texts))

    def test_m12_a_name_of_pawls_own_and_a_name_in_both_lists_are_faults(self):
        node = "  a: { model: a, instructions: x }\n"
        for tools in ("tools: { define: { update_state: { command: [x] } } }\n",
                      "tools: { define: { spawn_x: { command: [x] } } }\n",
                      "tools: { use: [bash], define: { bash: { command: [x] } } }\n"):
            charter = self.machine(node, {"a": "  - text: x\n"}, tools)
            told = self.ok("validate", charter, code=2)
            self.assertIn("m.yaml:", told.stdout + told.stderr)

    # --- M13 to M15 ----------------------------------------------------------------------------

    def test_m13_messages_by_instance_urgency_silence_and_key(self):
        charter = self.machine(
            "  a: { model: a, instructions: x }\n",
            {"a": "  - text: slow\n    delay: 6s\n  - text: heard\n"})
        driver = self.start("run", charter, "--id", "r")
        self.wait_for(lambda: self.pawl("tree", "r", "--json").returncode == 0, "the run")
        self.refused("message", "r", "hello", "--instance", "i7", code=1, says="no instance i7")
        self.ok("message", "r", "by the way", "--silent")
        for n in range(10):
            self.ok("message", "r", f"frame {n}", "--singleton", "camera")
        began = time.monotonic()
        self.ok("message", "r", "now", "--urgent")
        self.wait_for(lambda: any(event["type"] == "model_aborted" for event in self.events("r")),
                      "the interruption")
        self.assertLess(time.monotonic() - began, 5)
        out, _ = self.end(driver, 0)
        self.assertIn("slow", out)
        self.assertNotIn("failed", out)
        self.assertEqual(self.decisions("r", "message_replaced")[-1]["text"], "(the last of 10)")
        self.assertEqual(sum(one["count"] for one in self.decisions("r", "messages_delivered")),
                         3)

    def test_m14_a_worker_at_its_limit_cedes_what_it_has_and_a_failure_is_a_content(self):
        charter = self.machine(
            "  lead:\n    model: lead\n    instructions: x\n"
            "    workers: { w: { node: w }, bad: { node: bad } }\n"
            "  w: { worker: true, model: w, instructions: y, limits: { steps: 1 } }\n"
            "  bad: { worker: true, model: bad, instructions: z }\n",
            {"lead": "  - call: [{ tool: spawn_w, input: { input: x } },"
                     " { tool: spawn_bad, input: { input: x } }]\n" + "  - text: on\n" * 4,
             "w": "  - text: half\n    call: [{ tool: nothing, input: {} }]\n",
             "bad": "  - error: { category: validation_error, message: no such thing }\n"})
        self.ok("run", charter, "--id", "r")
        ended = {one["instance"]: (one["how"], one["content"])
                 for one in self.decisions("r", "instance_ended")}
        self.assertEqual(ended["i2"], ("stopped", "half"))
        self.assertEqual(ended["i3"][0], "failed")
        self.assertIn("no such thing", ended["i3"][1])

    def test_m14_a_failing_root_waits_for_its_workers(self):
        charter = self.lead_and_watch(
            "  - call: [{ tool: spawn_watcher, input: { input: x } }]\n"
            "  - error: { category: validation_error, message: broken }\n",
            "  - text: seen\n    delay: 3s\n")
        driver = self.start("run", charter, "--id", "r")
        self.wait_for(lambda: self.pawl("show", "r").returncode == 0
                      and self.decisions("r", "root_failed"), "the failure")
        self.assertIn("the run ends when its 1 workers have ended",
                      self.ok("explain", "r").stdout)
        self.end(driver, 3)
        self.assertEqual([one["how"] for one in self.decisions("r", "instance_ended")], ["ceded"])

    def test_m15_everything_survives_kills(self):
        self.write("slow.sh", "#!/bin/sh\nsleep 0.2\necho ok\n", 0o755)
        spawn = "{ tool: spawn_watcher, input: { input: x } }"
        charter = self.lead_and_watch(
            f"  - call: [{spawn}, {spawn}]\n" + "  - text: on\n" * 6,
            "  - call: [{ tool: slow, input: {} }]\n  - text: seen\n",
            "tools: { define: { slow: { description: s, command: [./slow.sh], effect: idempotent,"
            " input: { type: object } } } }\n")
        process = self.start("run", charter, "--id", "r")
        for wait in (0.2, 0.3, 0.4):
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process = self.start("resume", "r") if self.pawl("show", "r").returncode == 0 \
                else self.start("run", charter, "--id", "r")
        process.communicate()
        if self.status("r") != "done":
            self.ok("resume", "r")
        self.assertEqual(sum(one["count"] for one in self.decisions("r", "contents_delivered")), 2)
        for command in (["replay", "r"], ["verify", "r"], ["explain", "r"], ["diff", "r", "r"]):
            self.ok(*command)
        exported = self.ok("export", "r").stdout
        self.assertIn("instance_ended", exported)

    def fork_stage(self, effect):
        self.write("note.sh", "#!/bin/sh\necho \"$PAWL_KEY\" >>keys\n"
                   "while [ ! -e gate ]; do sleep 0.02; done\necho opened\n", 0o755)
        charter = self.machine(
            "  lead:\n    model: lead\n    instructions: x\n"
            "    workers: { slow: { node: slow }, quick: { node: quick } }\n"
            "  slow: { worker: true, model: slow, instructions: y }\n"
            "  quick: { worker: true, model: quick, instructions: z }\n",
            {"lead": "  - call: [{ tool: spawn_slow, input: { input: x } },"
                     " { tool: spawn_quick, input: { input: x } }]\n" + "  - text: on\n" * 4,
             "slow": "  - call: [{ tool: note, input: {} }]\n  - text: noted\n",
             "quick": "  - text: one\n    delay: 1s\n    stop: cede\n"},
            "tools: { define: { note: { description: n, command: [./note.sh],"
            f" effect: {effect}, input: {{ type: object }} }} }} }}\n")
        driver = self.start("run", charter, "--id", "r")
        self.wait_for_keys(1)
        self.wait_for(lambda: any(one["how"] == "ceded" and one["instance"] == "i3"
                                  for one in self.decisions("r", "instance_ended")), "i3")
        return driver

    def test_m15_a_fork_at_a_step_of_one_instance_takes_up_the_calls_of_others(self):
        driver = self.fork_stage("idempotent")
        fork = self.start("fork", "r", "--at", "i3:1", "--id", "f")
        self.wait_for_keys(2)
        self.open_gate()
        self.end(driver, 0)
        self.end(fork, 0)
        self.assertEqual(len(set(self.keys())), 2)
        self.assertEqual(self.status("f"), "done")
        ended = sorted(one["instance"] for one in self.decisions("f", "instance_ended"))
        self.assertEqual(ended, ["i2", "i3"])
        self.assertIn("same", self.ok("replay", "f").stdout)
        self.refused("fork", "r", "--at", "i3:9", code=2, says="has no step 9 of i3")
        self.refused("fork", "r", "--at", "x:1", code=2, says="x")

    def test_m15_an_open_once_call_refuses_the_fork(self):
        driver = self.fork_stage("once")
        self.refused("fork", "r", "--at", "i3:1", "--id", "f", code=1, says="once")
        self.open_gate()
        self.end(driver, 0)

    def test_m15_replies_are_counted_anew_for_each_node(self):
        charter = self.machine(
            "  a: { model: a, instructions: x, next: { go: b } }\n"
            "  b: { model: b, instructions: y, next: { back: a } }\n",
            {"a": "  - call: [{ tool: transition_go, input: {} }]\n",
             "b": "  - call: [{ tool: transition_back, input: {} }]\n"},
            "limits: { steps: 6 }\nguards: { identical_calls: 50, identical_steps: 50 }\n")
        self.ok("run", charter, "--id", "r", code=5)
        self.assertEqual([one["node"] for one in self.decisions("r", "node_entered")],
                         ["b", "a", "b", "a", "b"])


if __name__ == "__main__":
    main()
