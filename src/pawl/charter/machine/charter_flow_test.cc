#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

// A flow whose phases begin in line 6.
std::string flow_with(std::string_view phases) {
  return "name: t\nmodel: a/b\nvars: { who: Ann }\nflow:\n  phases:\n" + std::string(phases) +
         "nodes: { n: { instructions: x } }\n";
}

// As machine.md writes it.
constexpr std::string_view kFlow = R"(name: ship
models: { main: scripted/s.yaml }
flow:
  phases:
    - { name: plan, node: planner }
    - { name: build, node: coder, after: [plan], prompt: "Do this: {{phases.plan.output}}" }
    - { name: docs, node: writer, after: [plan], optional: true, fallback: No documents. }
    - { name: review, agent: reviewer, after: [build], map: { over: /phases/build/output/files, max: 4, per_key: /dir }, prompt: "{{item}}" }
    - { name: sign, after: [review], checkpoint: "Is this good to go?" }
    - { name: shipped, after: [sign], await: { event: merged, batch: true, timeout: 2d } }
    - { name: report, node: reporter, after: [shipped, docs] }
  gate: { blocks: 5 }
nodes:
  planner: { instructions: Plan. }
  coder: { instructions: Code., output: { schema: { type: object } } }
  writer: { instructions: Write. }
  reporter: { instructions: Report. }
agents:
  reviewer: { charter: reviewer.yaml, description: Reviews a file., limits: { steps: 20, cost: 0.50 USD }, on_parent_end: cancel }
  helper: { instructions: Do one small thing., tools: [view], model: small/x }
subagents: { adhoc: true, depth: 3, descendants: 50, at_a_time: 8 }
)";

TEST_CASE("the flow of machine.md is read whole") {
  const Charter charter = good_charter(kFlow);
  const CharterMachine& machine = charter.machine;

  CHECK(charter.node.empty());
  REQUIRE(machine.phases.size() == 7);
  CHECK(machine.phases[2].need == PhaseNeed::optional);
  CHECK(machine.phases[2].fallback == "\"No documents.\"");
  CHECK(machine.phases[3].agent == "reviewer");
  CHECK(machine.phases[3].map == MapSpec{"/phases/build/output/files", 4, "/dir", 1, 0});
  CHECK(machine.phases[4].checkpoint == "Is this good to go?");
  CHECK(machine.phases[5].await == AwaitSpec{"merged", Batch::all, 172'800'000});
  CHECK(machine.phases[6].after == std::vector<std::string>{"shipped", "docs"});
  CHECK(machine.gate == GateSpec{5});
  CHECK(machine.adhoc_agents == Presence::present);
  CHECK(machine.subagents == SubagentBounds{3, 50, 8});
  REQUIRE(machine.agents.size() == 2);
  CHECK(machine.agents[1].file == "reviewer.yaml");
  CHECK(machine.agents[1].limits.steps == 20);
  CHECK(machine.agents[1].limits.cost_pico == 500'000'000'000);
  CHECK(
      machine.agents[0].text ==
      R"({"name":"helper","models":{"main":"scripted/s.yaml"},"instructions":"Do one small thing.","model":"small/x","tools":{"allow":["view"]}})");
  CHECK(charter.common_tools.empty());
  std::vector<NodeSpec> nodes;
  for (const CharterNode& node : machine.nodes) nodes.push_back(node.spec);
  CHECK(fault_of(machine.phases, nodes).empty());
}

TEST_CASE("phases that wait for each other are named in their order") {
  CHECK(
      charter_faults(flow_with("  - { name: a, node: n, after: [c] }\n"
                               "  - { name: b, node: n, after: [a] }\n"
                               "  - { name: c, node: n, after: [b] }\n"
                               "  - { name: d, node: n, after: [c] }\n"
                               "  - { name: e, node: n, after: [e] }\n")) ==
      "f:6:5: flow: the phases wait for each other: a after c after b after a (remove one of them "
      "from an after:)\n"
      "f:10:5: flow: the phases wait for each other: e after e (remove one of them from an "
      "after:)\n");
}

TEST_CASE("what a phase cannot be is found at load") {
  CHECK(charter_faults(flow_with(R"(  - { name: a, node: m, after: [z] }
  - { name: a, agent: x }
  - { name: B, node: n, checkpoint: y }
  - { name: c }
  - { name: d, checkpoint: y, map: { over: /input }, prompt: x }
  - { name: e, node: n, fallback: x }
  - { name: f, node: n, when: { phases/a: 1, /phases/y/output: 2, /state: 3, /phases/c/what: 4 } }
  - { name: g, node: n, map: { over: /phases/y/output, max: 0, per_key: dir } }
  - { name: h, await: { timeout: 1s } }
  - { name: i, node: n, prompt: "{{item}} {{whom}} {{phases.y.output}} {{phases.c.status}} {{input/x}} {{ who }} {{vars.who}} {1} {{a b}}" }
  - { name: j, node: n, after: [c, c] }
)")) == R"(f:6:22: phases.a: there is no node "m" (one of n)
f:6:33: phases.a: there is no phase "z" (among others: B, a, c, d, e, f, g, h)
f:7:13: flow: two phases are called "a" (rename one of them)
f:7:23: phases.a: there is no agent "x" (there are none)
f:8:5: phases.B: a phase has one of node, agent, checkpoint and await (make a phase of each)
f:8:13: phases.B: "B" is not a name of a phase (lower case letters, digits, '_' and '-', at most 128, the first a letter or digit)
f:9:5: phases.c: a phase has one of node, agent, checkpoint and await (add node:)
f:10:36: phases.d: "map" is for a phase of a node or an agent (remove it)
f:10:62: phases.d: "prompt" is for a phase of a node or an agent (remove it)
f:11:35: phases.e: "fallback" is for a phase that may fail (add optional: true, or remove it)
f:12:33: phases.f: "when": "phases/a" is no JSON Pointer: it must begin with "/", or be empty
f:12:46: phases.f: "when": there is no phase "y" (among others: B, a, c, d, e, f, g, h)
f:12:67: phases.f: "when": "/state" leads nowhere (begin with /input, /vars or /phases/NAME/output)
f:12:78: phases.f: "when": a phase has status and output, and no "what" (for example /phases/c/output)
f:13:38: phases.g: "over": there is no phase "y" (among others: B, a, c, d, e, f, g, h)
f:13:61: phases.g.map: "max" must be an integer from 1 to 100000, found the integer 0
f:13:73: phases.g.map: "per_key": "dir" is no JSON Pointer: it must begin with "/", or be empty (for example /dir)
f:14:23: phases.h.await: "event" is missing (add "event")
f:15:33: phases.i: the prompt uses {{item}}, and the phase has no map (add map:)
f:15:33: phases.i: the prompt uses the variable "whom", which is not declared (add vars: { whom: "" })
f:15:33: phases.i: the prompt uses the phase "y", which there is not (among others: B, a, c, d, e, f, g, h)
f:15:33: phases.i: the prompt has {{phases.c.status}}, which stands for nothing (write {{input}}, {{vars.x}}, {{phases.NAME.output}}, {{phases.NAME.output/POINTER}} or {{item}})
f:15:33: phases.i: the prompt has {{input/x}}, which stands for nothing (write {{input}}, {{vars.x}}, {{phases.NAME.output}}, {{phases.NAME.output/POINTER}} or {{item}})
f:16:36: phases.j: the phase "c" is listed twice
)");
}

TEST_CASE("templates stand for what there is") {
  const auto fault = [](const std::string& prompt) {
    return charter_faults(flow_with("  - { name: a, node: n }\n  - { name: b, node: n, prompt: \"" +
                                    prompt + "\" }\n"));
  };
  CHECK(fault("{{item}}").find("the phase has no map") != std::string::npos);
  CHECK(fault("{{whom}}").find("the variable \\\"whom\\\"") == std::string::npos);
  CHECK(fault("{{whom}}").find("which is not declared") != std::string::npos);
  CHECK(fault("{{phases.y.output}}").find("the prompt uses the phase \"y\"") != std::string::npos);
  for (const char* wrong : {"{{phases.a.status}}", "{{input/x}}", "{{phases.a}}", "{{item.x}}",
                            "{{phases.a.output/x~}}", "{{phases.a.outputs}}"}) {
    CAPTURE(wrong);
    CHECK(fault(wrong).find("which stands for nothing") != std::string::npos);
  }
  good_charter(
      flow_with("  - { name: a, node: n }\n  - { name: b, node: n, prompt: \"{{ who }} "
                "{{vars.who}} {{input}} {{phases.a.output/x/0}} {1} {{a b}} {{}} {{\" }\n"));
}

}  // namespace
}  // namespace pawl
