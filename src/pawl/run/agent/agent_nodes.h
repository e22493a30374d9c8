// The nodes of a charter as a run has them: what it pins of them, and what each is asked with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/schema.h"
#include "pawl/kernel/events.h"
#include "pawl/run/agent/agent.h"
#include "pawl/tools/tool_registry.h"

namespace pawl {

// What a request of an instance in the node has of the charter.
struct NodeSetup {
  std::string instructions = {};  // rendered, with those of its packs
  SamplingOptions sampling = {};
  std::string output_schema = {};  // JSON; empty: any text
  std::optional<Schema> checked = {};
};
using NodeSetups = std::map<std::string, NodeSetup, std::less<>>;  // by name

// Of every node; none where the charter has no nodes. `variables` are those that were given.
Result<NodeSetups> node_setups(const Charter& charter,
                               const std::map<std::string, std::string>& variables);

// The tools that a primary instance of the node has, if its ancestors define none.
std::vector<std::string> tools_of_node(const Charter& charter, const CharterNode& node);

// By estimate: what every request has before its first message.
std::uint64_t tokens_before_messages(std::uint64_t text_bytes, const std::vector<ToolSpec>& tools);

// Nodes, packs, phases and the gate, and in which scope each tool stands. `event` has its tools.
void pin_nodes(const RunnableAgent& agent, const ToolRegistry& tools, const NodeSetups& setups,
               RunStarted& event);
// The variables that prompts of phases may name: all of them, with the defaults.
void pin_variables(const Charter& charter, RunStarted& event);

}  // namespace pawl
