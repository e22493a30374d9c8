#include "pawl/run/agent/agent_nodes.h"

#include <doctest/doctest.h>

#include "pawl/testing/stage/silent_tool_test.h"

namespace pawl {
namespace {

using Names = std::vector<std::string>;

CommandDeclaration command_of(std::string name, ToolScope scope, std::string owner) {
  CommandDeclaration command;
  command.spec.name = std::move(name);
  command.scope = scope;
  command.owner = std::move(owner);
  return command;
}

// Nodes a and w, a pack p, and a tool in each scope.
RunnableAgent machine_agent() {
  RunnableAgent agent;
  Charter& charter = agent.charter;
  charter.variables = {{"who", "Ann"}};
  charter.common_tools = {"view"};
  charter.commands = {
      command_of("pay", ToolScope::charter, ""), command_of("held", ToolScope::charter, ""),
      command_of("dig", ToolScope::node, "w"), command_of("note", ToolScope::pack, "p")};
  CharterNode a;
  a.spec.name = "a";
  a.spec.packs = {"p"};
  a.instructions = "Greet {{vars.who}}.";
  a.sampling.max_output_tokens = 7;
  a.output_schema = R"({"type":"object"})";
  a.said = R"({"instructions":"Greet {{vars.who}}."})";
  CharterNode w;
  w.spec.name = "w";
  w.spec.kind = NodeKind::worker;
  w.spec.packs = {"p"};
  w.spec.tools = Names{"dig", "view", "note"};
  w.instructions = "Dig.";
  charter.machine.nodes = {a, w};
  CharterPack pack;
  pack.spec.name = "p";
  pack.spec.tools = {"held"};
  pack.instructions = "Take notes for {{who}}.";
  charter.machine.packs = {pack};
  for (const char* name : {"pay", "held", "dig", "note", "view"}) {
    agent.tools.push_back(silent_tool(name));
  }
  agent.node_targets = {{"a", {0, 1}}, {"w", {2}}};
  return agent;
}

TEST_CASE("a node is asked with its instructions and those of its packs") {
  const auto setups = node_setups(machine_agent().charter, {{"who", "Bob"}});
  REQUIRE(setups);
  CHECK(setups->at("a").instructions == "Greet Bob.\n\nTake notes for Bob.");
  CHECK(setups->at("a").sampling.max_output_tokens == 7);
  CHECK(setups->at("a").checked.has_value());
  CHECK_FALSE(setups->at("w").checked.has_value());
}

TEST_CASE(
    "a node has the tools of the charter, its own, and those of packs unless it is a worker") {
  const RunnableAgent agent = machine_agent();
  const std::vector<CharterNode>& nodes = agent.charter.machine.nodes;
  CHECK(tools_of_node(agent.charter, nodes[0]) == Names{"held", "note", "pay", "view"});
  CHECK(tools_of_node(agent.charter, nodes[1]) == Names{"dig", "view"});
}

TEST_CASE("a run pins what the kernel decides by") {
  const RunnableAgent agent = machine_agent();
  const auto tools = ToolRegistry::make(agent.tools);
  REQUIRE(tools);
  const auto setups = node_setups(agent.charter, {});
  REQUIRE(setups);
  RunStarted event;
  event.tools = tools->pinned();
  event.node = "a";
  pin_nodes(agent, *tools, *setups, event);

  REQUIRE(event.nodes.size() == 2);
  CHECK(event.nodes[0].definition == sha256(agent.charter.machine.nodes[0].said));
  CHECK(event.nodes[0].targets == std::vector<std::uint32_t>{0, 1});
  CHECK(event.nodes[1].targets == std::vector<std::uint32_t>{2});
  CHECK(event.nodes[0].output_tokens == 7);
  CHECK(event.nodes[0].base_tokens > event.nodes[1].base_tokens);
  CHECK(fault_of(event.nodes, event.packs, event.node, 3).empty());
  for (const PinnedTool& tool : event.tools) {
    CAPTURE(tool.name);
    const bool charters = tool.name == "pay" || tool.name == "held" || tool.name == "view";
    CHECK((tool.scope == ToolScope::charter) == charters);
    CHECK(tool.owner == (charters ? "" : tool.name == "dig" ? "w" : "p"));
  }
}

TEST_CASE("prompts of phases find every variable, given or not") {
  Charter charter;
  charter.variables = {{"a", "1"}, {"b", "2"}};
  RunStarted event;
  event.variables = {{"b", "given"}};
  pin_variables(charter, event);
  CHECK(event.variables.size() == 1);
  charter.machine.phases.emplace_back();
  pin_variables(charter, event);
  REQUIRE(event.variables.size() == 2);
  CHECK(event.variables[0].value == "1");
  CHECK(event.variables[1].value == "given");
}

}  // namespace
}  // namespace pawl
