#!/usr/bin/env python3
"""`pawl validate` refuses what `pawl run` refuses, in the same words; what it passes starts."""

import re
import shutil

from support import SOURCE, Stage, main

HEAD = "name: c\ninstructions: Go.\n"
SCRIPTED = HEAD + "model: scripted/s.yaml\n"
KEY = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

# What is wrong, the charter behind its head, what both commands say.
CHARTERS = (
    # the document
    ("no YAML", "tools: {", ":"),
    ("a key twice", "limits: {}\nlimits: {}\n", "limits"),
    ("an anchor", "vars: { a: &x b }\n", "anchor"),
    ("an unknown key", "tool: {}\n", "tool"),
    ("a key of a later version", "skills: {}\n", "not supported by this version"),
    ("a key of a node", "workers: {}\n", "stands in a node"),
    ("no text of instructions",
     "nodes: { n: { instructions: 7 } }\n", "must be a text"),
    ("two nodes and no start", "nodes: { a: {}, b: {} }\n", "\"start\" is missing"),
    ("a node that nothing leads to", "start: a\nnodes: { a: {}, b: {} }\n", "nothing leads to"),
    ("a worker that is none",
     "start: a\nnodes: { a: { workers: { w: b } }, b: {} }\n", "has no worker: true"),
    ("phases in a circle",
     "flow: { phases: [{ name: a, checkpoint: x, after: [a] }] }\n", "wait for each other"),
    ("start without nodes", "start: a\n", "\"start\" needs \"nodes\""),
    ("start of no node", "start: a\nnodes: { b: {} }\n", "must name a node"),
    ("a long description", "description: [1]\n", "description"),
    ("a variable that is not declared", "system_header: x\nvars: { 1a: b }\n", "1a"),
    # models
    ("a temperature too high", "temperature: 3\n", "temperature"),
    ("an effort that is none", "effort: heroic\n", "effort"),
    ("summaries by nobody", "compaction: { model: nobody/x }\n", "nobody"),
    ("a ratio beyond the context", "compaction: { ratio: 2 }\n", "ratio"),
    ("an output schema that is none", "output: { schema: { type: 7 } }\n", "type"),
    ("a provider without an address", "providers: { mine: { dialect: openai_chat } }\n", "mine"),
    # money, limits
    ("no steps", "limits: { steps: 0 }\n", "steps"),
    ("two currencies", "limits: { cost: 1.00 USD }\nbudget: { cost: 1.00 EUR }\n", "cost"),
    ("another currency than the model's", "budget: { cost: 1.00 EUR }\n", "EUR"),
    ("asking beyond the end", "limits: { cost: 1.00 USD, ask_cost: 2.00 USD }\n", "ask_cost"),
    ("a guard of one", "guards: { tool_errors: 1 }\n", "tool_errors"),
    ("no attempt", "retry: { attempts: 0 }\n", "attempts"),
    ("delays the wrong way round", "retry: { first_delay: 9s, max_delay: 1s }\n", "max_delay"),
    # tools
    ("one tool in use and in define",
     "tools: { use: [bash], define: { bash: { command: [x] } } }\n",
     "\"bash\" is also in tools.define"),
    ("tools of MCP servers", "tools: { allow: [\"mcp__github__*\"] }\n", "MCP server"),
    ("a question about tools of MCP", "tools: { use: [view], ask: [mcp__x__y] }\n", "MCP server"),
    ("an own tool with such a name", "tools: { define: { mcp__a: { command: [x] } } }\n",
     "only tools of MCP servers"),
    ("servers of MCP", "mcp: { a: { command: [x] } }\n", "not supported by this version"),
    ("no such common tool", "tools: { use: [shell] }\n", "Pawl brings no tool"),
    ("a tool in allow that is nowhere", "tools: { allow: [nothing] }\n", "there is no tool"),
    ("a tool listed twice", "tools: { allow: [view, view] }\n", "listed twice"),
    ("a node's tool that is not allowed",
     "tools: { use: [view, grep], allow: [view] }\nnodes: { n: { tools: [grep] } }\n",
     "not in tools.allow"),
    ("a tool without a command", "tools: { define: { a: {} } }\n", "command"),
    ("a command that is a text", "tools: { define: { a: { command: ./a b } } }\n", "list"),
    ("a status for a tool that has none",
     "tools: { define: { a: { command: [x], status: [y] } } }\n",
     "only for reconcilable"),
    ("a reconcilable tool without one",
     "tools: { define: { a: { command: [x], effect: reconcilable } } }\n", "needs \"status\""),
    ("an input schema that is none",
     "tools: { define: { a: { command: [x], input: { type: 7 } } } }\n",
     "input"),
    ("a need that is none", "tools: { define: { a: { command: [x], needs: [fly] } } }\n",
     "no permission"),
    ("a shell list that is none", "tools: { use: [bash], shell: { allow: 7 } }\n", "allow"),
    # permissions
    ("an approval policy that is none", "approvals: sometimes\n", "sometimes"),
    ("an expiry beyond the maximum", "approvals: { policy: always_require, expires: 500d }\n",
     "expires"),
    ("two people without keys", "approvals: { four_eyes: true }\n", "needs two people with keys"),
    ("a grant that is none", "permissions: { grant: [fly] }\n", "no permission"),
    ("a trust level that is none", "permissions: { trust: blind }\n", "trust"),
    ("a rule without an id", "guardrails: [{ verdict: deny }]\n", "id"),
    ("a rule with a wrong expression",
     "guardrails: [{ id: x, tool: bash, verdict: deny, "
     "arguments: { command: { regex: \"(\" } } }]\n", "is not an expression"),
    ("a rule that is protected",
     "guardrails: [{ id: destroy-system.bash, enabled: false }]\n", "destroy-system"),
    ("a processor that is none", "processors: { input: [nothing] }\n", "no processor"),
    ("a bound without a size", "processors: { output: [size] }\n", "bytes"),
    # the sandbox
    ("no such level", "tools: { use: [bash] }\nsandbox: { level: moon }\n", "moon"),
    ("no such level, without a tool", "sandbox: { level: moon }\n", "moon"),
    ("a level with a network it cannot have",
     "tools: { use: [bash] }\nsandbox: { level: local, network: none }\n", "local"),
    ("a host that is none",
     "tools: { use: [http_fetch] }\nsandbox: { network: { hosts: [\"a b\"] } }\n", "a b"),
    ("a network that is none", "sandbox: { network: some }\n", "network"),
    ("the whole machine", "tools: { use: [bash] }\nsandbox: { write: [/] }\n", "whole machine"),
    ("a system directory", "tools: { use: [bash] }\nsandbox: { write: [/etc] }\n", "of the system"),
    ("a root that is not there", "tools: { use: [bash] }\nsandbox: { write: [gone] }\n", "gone"),
    ("a root that is a link",
     "tools: { use: [bash] }\nsandbox: { write: [link], directory: link }\n", "link"),
    ("a directory beside the roots",
     "tools: { use: [bash] }\nsandbox: { write: [work], directory: . }\n",
     "beneath none of the roots"),
    ("a denied path that is a root",
     "tools: { use: [bash] }\nsandbox: { write: [work], directory: work, deny: [work] }\n",
     "it is a root as well"),
    ("memory that nothing runs in", "sandbox: { memory: 1 }\n", "memory"),
    ("a name of a variable that is none", "sandbox: { env: { 1: x } }\n", "variable"),
)

# Likewise, with a head of their own.
MODELS = (
    ("no name", "model: scripted/s.yaml\ninstructions: Go.\n", "name"),
    ("no instructions", "name: c\nmodel: scripted/s.yaml\n", "\"instructions\" is missing"),
    ("a name that is none", "name: C c\ninstructions: Go.\nmodel: scripted/s.yaml\n", "name"),
    ("a provider that nobody knows", HEAD + "model: nobody/model\n", "nobody"),
    ("a model without a key", HEAD + "model: anthropic/claude-sonnet-5\n", "ANTHROPIC_API_KEY"),
    ("names in a circle", HEAD + "models: { a: b, b: a }\nmodel: a\n", "a"),
    ("a script with two ways to resume",
     HEAD + "model: scripted/both.yaml\n", "supports_session_resume"),
    ("a script that is not there", HEAD + "model: scripted/none.yaml\n", "none.yaml"),
    ("a script with a fault", HEAD + "model: scripted/bad.yaml\n", "bad.yaml:1:"),
    ("a price that nobody knows",
     HEAD + "providers: { mine: { dialect: openai_chat, base_url: \"http://127.0.0.1:1\" } }\n"
     "model: mine/model\nlimits: { cost: 1.00 USD }\n", "the price of mine/model is not known"),
    ("an unbound variable",
     "name: c\nmodel: scripted/s.yaml\ninstructions: \"{{other}}\"\n", "other"),
)

TOOLS = "tools: { use: [bash], define: { pay: { command: [date] } } }\n"
# What is wrong with the policy, the policy, what both commands say.
POLICIES = (
    ("no YAML", "deny: [", ":"),
    ("an unknown key", "alow: [view]\n", "alow"),
    ("tools of MCP servers", "allow: [\"mcp__*\"]\n", "MCP server"),
    ("a question about tools of MCP", "ask: [mcp__x]\n", "MCP server"),
    ("an approver without a key", "approvers: { ann: hello }\n", "hello"),
    ("two people with one key", f"approvers: {{ ann: \"{KEY}\", bob: \"{KEY}\" }}\n", "already"),
    ("four eyes of one person",
     f"approvers: {{ ann: \"{KEY}\" }}\napprovals: {{ four_eyes: true }}\n",
     "a second person"),
    ("a level that is none", "sandbox: { level: moon }\n", "level"),
    ("a level below the demanded",
     "sandbox: { level: namespace }\n", "demands the level namespace"),
    ("a rule without an id", "guardrails: [{ verdict: deny }]\n", "id"),
    ("an author who is none", "tools: { bash: { author: nobody } }\n", "author"),
    ("a tool that only others may add",
     "tools: { bash: { author: administrator } }\nadministrators: [nobody-here]\n", "bash"),
)

GOOD = (
    ("a plain one", ""),
    ("an own tool with a name of Pawl's",
     "tools: { allow: [bash], define: { bash: { command: [date] } } }\n"),
    ("a denial of tools that are not there", "tools: { deny: [\"mcp__*\", \"web_*\"] }\n"),
    ("a bound on money that nobody can count",
     "limits: { cost: 1.00 USD }\nbudget: { unknown_price: allow }\n"),
)


class ValidateAndRun(Stage):
    def environment(self):
        """The home of a user, where charters are not."""
        home = self.directory / "home"
        home.mkdir(exist_ok=True)
        return {**super().environment(), "HOME": str(home)}

    def setUp(self):
        super().setUp()
        self.write("s.yaml", "replies: [{ text: Done. }]\n")
        self.write("bad.yaml", "replies: [{ txet: Done. }]\n")
        self.write("both.yaml", "capabilities: { supports_session_resume: true, "
                   "supports_conversation_replay: true }\nreplies: [{ text: Done. }]\n")
        (self.directory / "work").mkdir()
        (self.directory / "link").symlink_to("work")

    def both_refuse(self, says, *options):
        """Both commands end with 2, say the same, and leave nothing."""
        validated = self.pawl("validate", "c.yaml", *options)
        ran = self.pawl("run", "c.yaml", *options)
        said = f"validate: {validated.stdout}{validated.stderr}\nrun: {ran.stdout}{ran.stderr}"
        self.assertEqual((validated.returncode, ran.returncode), (2, 2), said)
        counted = re.sub(r"^pawl: \d+ fault\(s\) in c\.yaml\n", "", validated.stderr)
        faults = re.sub(r"^note: .*\n", "", validated.stdout, flags=re.M) + counted
        self.assertEqual(faults, ran.stderr, said)
        self.assertEqual(ran.stdout, "")
        self.assertIn(says, ran.stderr)
        self.assertRegex(ran.stderr, r"(?m)^(pawl: )?[^\n]*\.yaml:|^pawl: ")
        self.assertFalse(self.data.exists(), said)

    def test_charters_that_both_refuse(self):
        for name, text, says in (*((name, SCRIPTED + text, says) for name, text, says in CHARTERS),
                                 *MODELS):
            with self.subTest(name):
                self.write("c.yaml", text)
                self.both_refuse(says)

    def test_policies_that_both_refuse(self):
        self.write("c.yaml", SCRIPTED + TOOLS)
        for name, text, says in POLICIES:
            with self.subTest(name):
                self.write("policy.yaml", text)
                self.both_refuse(says, "--policy", "policy.yaml")

    def test_charters_that_both_accept(self):
        for name, text in GOOD:
            with self.subTest(name):
                self.write("c.yaml", SCRIPTED + text)
                self.ok("validate", "c.yaml")
                self.ok("run", "c.yaml")

    def test_every_example_validates_and_starts(self):
        charters = sorted(path for path in (SOURCE / "examples").rglob("*.yaml")
                          if not path.name.endswith(".script.yaml"))
        self.assertGreaterEqual(len(charters), 11)
        shutil.copytree(SOURCE / "examples", self.directory / "examples")
        for number, path in enumerate(charters):
            with self.subTest(path.name):
                charter = "examples/" + str(path.relative_to(SOURCE / "examples"))
                validated = self.pawl("validate", charter)
                ran = self.pawl("run", charter, "go", "--id", f"r{number}", "--time", "20s")
                said = validated.stdout + validated.stderr + ran.stdout + ran.stderr
                if "user namespaces" in said:
                    continue  # neither can: the machine has none
                self.assertEqual(validated.returncode, 0, said)
                ahead = re.findall(r"^note: (.*cannot run them yet)$", validated.stdout, re.M)
                if ahead:  # it is checked, and refused with the same lines
                    self.assertEqual(ran.returncode, 2, said)
                    for line in ahead:
                        self.assertIn(line, ran.stderr)
                    continue
                self.assertNotIn(ran.returncode, (1, 2), said)
                self.ok("show", f"r{number}")


if __name__ == "__main__":
    main()
