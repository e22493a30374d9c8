#include "pawl/run/agent/agent_nodes.h"

#include <algorithm>
#include <set>

#include "pawl/base/json.h"
#include "pawl/charter/charter_vars.h"
#include "pawl/kernel/rules.h"

namespace pawl {
namespace {

// What providers put before every conversation, and more when there are tools: by recorded traffic.
constexpr std::uint64_t kPreambleTokens = 100;
constexpr std::uint64_t kToolsPreambleTokens = 400;

const CharterPack* find_charter_pack(const Charter& charter, const std::string& name) {
  const auto found = std::ranges::find(charter.machine.packs, name,
                                       [](const CharterPack& pack) { return pack.spec.name; });
  return found == charter.machine.packs.end() ? nullptr : &*found;
}

Result<NodeSetup> setup_of_node(const Charter& charter, const CharterNode& node,
                                const std::map<std::string, std::string>& variables) {
  NodeSetup setup;
  PAWL_TRY(setup.instructions, render_text(node.instructions, charter, variables));
  for (const std::string& name : node.spec.packs) {
    const CharterPack* pack = find_charter_pack(charter, name);
    if (pack == nullptr || pack->instructions.empty()) continue;
    PAWL_TRY(const std::string text, render_text(pack->instructions, charter, variables));
    setup.instructions += "\n\n" + text;
  }
  setup.sampling = node.sampling;
  setup.output_schema = node.output_schema;
  if (node.output_schema.empty()) return setup;
  PAWL_TRY(const Json json, parse_json(node.output_schema));
  PAWL_TRY(setup.checked, Schema::compile(json));
  return setup;
}

// Of a charter that was built without a text the specs say it all.
Digest definition_of(const CharterNode& node, const NodeSetup& setup) {
  if (!node.said.empty()) return sha256(node.said);
  JsonWriter out;
  out.begin_object().field("name", node.spec.name).field("instructions", setup.instructions);
  return sha256(out.end_object().take());
}

NodeSpec pinned_node(const RunnableAgent& agent, const CharterNode& node, const NodeSetup& setup,
                     const ToolRegistry& tools) {
  NodeSpec spec = node.spec;
  spec.definition = definition_of(node, setup);
  const auto targets = agent.node_targets.find(spec.name);
  if (targets != agent.node_targets.end()) spec.targets = targets->second;
  std::vector<ToolSpec> in_scope;
  for (const std::string& name : tools_of_node(agent.charter, node)) {
    if (const Tool* tool = tools.find(name)) in_scope.push_back(tool->spec());
  }
  spec.base_tokens =
      tokens_before_messages(setup.instructions.size() + agent.project_docs.size(), in_scope);
  spec.output_tokens = setup.sampling.max_output_tokens.value_or(0);
  return spec;
}

void pin_scopes(const Charter& charter, std::vector<PinnedTool>& tools) {
  for (const CommandDeclaration& declared : charter.commands) {
    if (declared.scope == ToolScope::charter) continue;
    const auto pinned = std::ranges::find(tools, declared.spec.name, &PinnedTool::name);
    if (pinned == tools.end()) continue;
    pinned->scope = declared.scope;
    pinned->owner = declared.owner;
  }
}

}  // namespace

std::uint64_t tokens_before_messages(std::uint64_t text_bytes, const std::vector<ToolSpec>& tools) {
  std::uint64_t bytes = text_bytes;
  for (const ToolSpec& tool : tools) {
    bytes += tool.name.size() + tool.description.size() + tool.input_schema.size();
  }
  return kPreambleTokens + (tools.empty() ? 0 : kToolsPreambleTokens) +
         rules_of(kSemantics).estimate_tokens(bytes);
}

Result<NodeSetups> node_setups(const Charter& charter,
                               const std::map<std::string, std::string>& variables) {
  NodeSetups setups;
  for (const CharterNode& node : charter.machine.nodes) {
    PAWL_TRY(NodeSetup setup, setup_of_node(charter, node, variables));
    setups.emplace(node.spec.name, std::move(setup));
  }
  return setups;
}

std::vector<std::string> tools_of_node(const Charter& charter, const CharterNode& node) {
  const auto listed = [](const auto& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  };
  const bool sees_packs = node.spec.kind == NodeKind::primary;
  std::set<std::string> names;
  for (const CommandDeclaration& tool : charter.commands) {
    const bool own =
        tool.scope == ToolScope::charter ||
        (tool.scope == ToolScope::node && tool.owner == node.spec.name) ||
        (tool.scope == ToolScope::pack && sees_packs && listed(node.spec.packs, tool.owner));
    if (own) names.insert(tool.spec.name);
  }
  names.insert(charter.common_tools.begin(), charter.common_tools.end());
  for (const CharterPack& pack : charter.machine.packs) {
    if (sees_packs && listed(node.spec.packs, pack.spec.name)) continue;
    for (const std::string& name : pack.spec.tools) {
      const bool elsewhere = std::ranges::any_of(charter.machine.packs, [&](const auto& other) {
        return sees_packs && listed(node.spec.packs, other.spec.name) &&
               listed(other.spec.tools, name);
      });
      if (!elsewhere) names.erase(name);
    }
  }
  std::vector<std::string> tools;
  for (const std::string& name : names) {
    if (!node.spec.tools || listed(*node.spec.tools, name)) tools.push_back(name);
  }
  return tools;
}

void pin_nodes(const RunnableAgent& agent, const ToolRegistry& tools, const NodeSetups& setups,
               RunStarted& event) {
  const CharterMachine& machine = agent.charter.machine;
  for (const CharterNode& node : machine.nodes) {
    event.nodes.push_back(pinned_node(agent, node, setups.at(node.spec.name), tools));
  }
  for (const CharterPack& pack : machine.packs) event.packs.push_back(pack.spec);
  event.phases = machine.phases;
  event.gate = machine.gate;
  event.adhoc_agents = machine.adhoc_agents;
  event.subagents = machine.subagents;
  pin_scopes(agent.charter, event.tools);
}

void pin_variables(const Charter& charter, RunStarted& event) {
  if (charter.machine.phases.empty()) return;
  for (const auto& [name, value] : charter.variables) {
    const auto given = std::ranges::find(event.variables, name, &Variable::key);
    if (given == event.variables.end()) event.variables.push_back({name, value});
  }
  std::ranges::sort(event.variables, {}, &Variable::key);
}

}  // namespace pawl
