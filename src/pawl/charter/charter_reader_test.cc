#include "pawl/charter/charter_reader.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

constexpr std::string_view kPay = R"(# pay.yaml
name: pay
models: { main: scripted/pay.script.yaml }
limits: { steps: 20, time: 60s }
tools:
  define:
    charge:
      description: Charge the customer.
      command: [./charge.sh]
      effect: once
      input: { type: object, required: [amount], properties: { amount: { type: integer } } }
instructions: Charge the customer, then say so.
)";

TEST_CASE("a charter of one room is read whole") {
  const Charter charter = good_charter(kPay);

  CHECK(charter.name == "pay");
  CHECK(charter.description.empty());
  CHECK(charter.instructions == "Charge the customer, then say so.");
  CHECK(charter.node == "main");
  CHECK(charter.model == "main");
  CHECK(charter.models.aliases.at("main").items.front() == "scripted/pay.script.yaml");
  CHECK(charter.limits.steps == 20);
  CHECK(charter.limits.time_ms == 60'000);
  CHECK(charter.guards == Guards{});
  CHECK(charter.retry == RetryPolicy{});
  REQUIRE(charter.commands.size() == 1);
  CHECK(charter.commands[0].spec.name == "charge");
  CHECK(charter.commands[0].spec.effect == EffectClass::once);
  CHECK(charter.commands[0].command == std::vector<std::string>{"./charge.sh"});
  CHECK(charter.variables.empty());
  CHECK(charter.text == kPay);
  CHECK(charter.directory == "/dir");
}

TEST_CASE("the one node may carry what otherwise stands at the top") {
  const Charter charter = good_charter(R"(
name: t
description: A try.
models: { small: x/1, large: x/2 }
tools: { define: { a: { command: [x] }, b: { command: [x] } } }
start: plan
nodes:
  plan: { instructions: Plan., model: large, tools: [b] }
)");
  CHECK(charter.node == "plan");
  CHECK(charter.description == "A try.");
  CHECK(charter.instructions == "Plan.");
  CHECK(charter.model == "large");
  REQUIRE(charter.machine.nodes.size() == 1);
  CHECK(charter.machine.nodes[0].spec.tools == std::vector<std::string>{"b"});
}

TEST_CASE("nodes and start have to fit") {
  CHECK(charter_faults(charter_with("start: a\n")) ==
        "f:4:8: charter: \"start\" needs \"nodes\" (leave both out: a charter of one node has its "
        "instructions at the top)\n");
  CHECK(charter_faults(charter_with("start: b\nnodes: { a: {} }\n")) ==
        "f:4:8: charter: \"start\" must name a node, found the string \"b\" (write a)\n");
  CHECK(charter_faults(charter_with("nodes: {}\n")) ==
        "f:4:8: charter: \"nodes\" must have a node\n");
  CHECK(charter_faults(charter_with("nodes: [a]\n")) ==
        "f:4:8: charter: \"nodes\" must be a map, found a list\n");
  CHECK(charter_faults(charter_with("model: main\nnodes: { A: { instructions: x, model: main, "
                                    "next: { ready: b }, tool: [] } }\n")) ==
        "f:5:10: nodes.A: \"A\" is not a name of a node (lower case letters, digits, '_' and '-', "
        "at most 128, the first a letter or digit)\n"
        "f:5:60: nodes.A.next.ready: there is no node \"b\" (one of A)\n"
        "f:5:65: nodes.A: unknown key \"tool\" (did you mean \"tools\"?)\n");
}

TEST_CASE("what is missing and what is not text is said") {
  CHECK(charter_faults("{}") ==
        "f:1:1: charter: \"name\" is missing (add \"name\")\n"
        "f:1:1: charter: \"instructions\" is missing (add instructions: with what the model is to "
        "do)\n");
  CHECK(charter_faults("").find("charter: must be a map, found nothing") != std::string::npos);
  CHECK(charter_faults("- a") == "f:1:1: charter: must be a map, found a list\n");
  CHECK(charter_faults("name: 7\ndescription: [x]\ninstructions: '  '\nmodel: x/1\n") ==
        "f:1:7: charter: \"name\" must be a string, found the integer 7 (put it in quotes)\n"
        "f:2:14: charter: \"description\" must be a string, found a list\n"
        "f:3:15: charter: \"instructions\" must be a text, found the string \"  \"\n");
}

TEST_CASE("a name has a bounded alphabet and length") {
  const auto named = [](const std::string& name) {
    return "name: \"" + name + "\"\ninstructions: x\nmodel: x/1\n";
  };
  CHECK(good_charter(named("0-a_b")).name == "0-a_b");
  CHECK(good_charter(named(std::string(128, 'a'))).name.size() == 128);
  for (const std::string bad : {"", "-a", "_a", "A", "a b", "a.b", "a/b"}) {
    CAPTURE(bad);
    CHECK(charter_faults(named(bad)).find("is not a name of a charter") != std::string::npos);
  }
  CHECK_FALSE(charter_faults(named(std::string(129, 'a'))).empty());
}

TEST_CASE("texts are bounded") {
  const std::string long_text(kInstructionsBytesMax + 1, 'x');
  const Mark mark{1, 1};
  const Node root = Node::make_map({{"name", mark, Node::make_string("t", mark)},
                                    {"model", mark, Node::make_string("x/1", mark)},
                                    {"description", mark, Node::make_string(long_text, mark)},
                                    {"instructions", mark, Node::make_string(long_text, mark)}},
                                   mark);
  CHECK(to_string(read_charter(root, "", "").faults, "f") ==
        "f:1:1: charter: \"description\" has 1048577 bytes and may have 65536\n"
        "f:1:1: charter: \"instructions\" has 1048577 bytes and may have 1048576\n");
}

TEST_CASE("keys of later versions are told apart from mistakes") {
  CHECK(
      charter_faults(charter_with(
          "sandbox: { level: namespace }\nmcp: {}\nworkers: {}\nstate: {}\ninstruction: x\n"
          "colour: red\n")) ==
      "f:5:1: charter: \"mcp\" is not supported by this version (remove it)\n"
      "f:6:1: charter: \"workers\" stands in a node (write nodes: { main: { workers: ... } })\n"
      "f:7:1: charter: \"state\" stands in a node (write nodes: { main: { state: ... } })\n"
      "f:8:1: charter: unknown key \"instruction\" (did you mean \"instructions\"?)\n"
      "f:9:1: charter: unknown key \"colour\" (known keys: mcp, workers, state, name, "
      "description, instructions, limits, budget, guards, retry, vars, tools, approvals, "
      "permissions, guardrails, processors, sandbox, model, models, providers, max_tokens, "
      "temperature, effort, stream, system_header, compaction, output, start, nodes, packs, flow, "
      "gate, agents, subagents)\n");
}

// A charter with sections that are reserved for a later version.
TEST_CASE("every part of a charter that is ahead of this version is listed at once") {
  const std::string faults = charter_faults(R"(name: fix-tests
models:
  coder: [anthropic/claude-sonnet-4-5, openai/gpt-5]
  small: ollama/qwen3
limits: { steps: 50, cost: 2.00 USD, time: 10m }
sandbox: { level: namespace, write: [.], network: none }
tools:
  allow: [view, mcp__github__*]
  ask: [bash]
mcp:
  github: { command: [github-mcp-server, stdio] }
start: plan
nodes:
  plan:
    model: coder
    instructions: Read the failing tests and write a plan.
    tools: [view, bash]
    next: { ready: fix }
  fix:
    model: coder
    instructions: Carry out the plan.
)");
  for (const char* line : {"f:8:17: ", "f:10:1: "}) {
    CAPTURE(line);
    CHECK(faults.find(line) != std::string::npos);
  }
}

TEST_CASE("faults beyond the hundredth are not listed") {
  std::string many = charter_with("");
  for (int i = 0; i < 500; ++i) many += "k" + std::to_string(i) + ": x\n";
  CHECK(read_charter_text(many).faults.size() == kFaultsMax);
}

}  // namespace
}  // namespace pawl
