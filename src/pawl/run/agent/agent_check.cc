#include "pawl/run/agent/agent_check.h"

#include <algorithm>

#include "pawl/json.h"

namespace pawl {
namespace {

AgentFault unfit(std::string message, std::string about = {}) {
  return {Error{ErrorCode::invalid_argument, std::move(message)}, std::move(about)};
}

// Tools of an MCP server are called SERVER__TOOL: neither may be a tool of the run's.
std::optional<AgentFault> check_server(const std::string& server, const ToolRegistry& tools) {
  if (server.empty()) return unfit("an MCP server has no name");
  for (const ToolSpec& tool : tools.specs()) {
    if (tool.name != server && !tool.name.starts_with(server + "__")) continue;
    const Error error{ErrorCode::conflict, "the tool " + tool.name +
                                               " has the name of the MCP server " + server +
                                               ", which is the executor's; give it another"};
    return AgentFault{error, tool.name};
  }
  return std::nullopt;
}

// A subagent may do what its parent may, and no more.
std::optional<AgentFault> check_subagents(const PreparedAgent& agent, const ToolRegistry& tools) {
  if (agent.subagents.size() > kSubagentsMax) {
    return unfit("an agent has at most " + std::to_string(kSubagentsMax) + " subagents");
  }
  for (const SubagentSpec& subagent : agent.subagents) {
    if (subagent.name.empty()) return unfit("a subagent has no name");
    for (const std::string& tool : subagent.allowed_tools) {
      if (tools.find(tool) != nullptr) continue;
      return unfit("the subagent " + subagent.name + " may use the tool " + tool +
                   ", which its parent does not have");
    }
  }
  return std::nullopt;
}

// One ledger has one currency.
std::optional<AgentFault> check_targets(const PreparedAgent& agent) {
  const std::vector<ModelTarget> targets = targets_of(agent);
  const Spending& spending = agent.charter.spending;
  const bool bounded = spending.cost_pico > 0 || spending.ask_cost_pico > 0;
  const std::string& currency = bounded ? spending.currency : targets.front().prices.currency;
  for (const ModelTarget& target : targets) {
    if (!agent.executor->supports(target.literal)) {
      return unfit("the executor does not support the model '" + target.literal + "'",
                   target.literal);
    }
    if (target.prices.currency != currency) {
      return unfit(
          target.literal + " is paid in " + target.prices.currency + ", and the run in " + currency,
          target.literal);
    }
  }
  return std::nullopt;
}

// A command without actions is one that the host has a function for.
std::optional<AgentFault> check_commands(const PreparedAgent& agent) {
  for (const CharterNode& node : agent.charter.machine.nodes) {
    for (const NodeCommand& command : node.spec.commands) {
      const bool there = !command.actions.empty() ||
                         find_function(agent.commands, node.spec.name, command.name) != nullptr;
      if (there) continue;
      return unfit("the command " + command.name + " of the node " + node.spec.name +
                       " has no \"do\", and this process has no function for it",
                   command.name);
    }
  }
  return std::nullopt;
}

Result<std::optional<Schema>> compiled(const std::string& text) {
  if (text.empty()) return std::optional<Schema>();
  PAWL_TRY(const Json json, parse_json(text));
  PAWL_TRY(Schema schema, Schema::compile(json));
  return std::optional(std::move(schema));
}

}  // namespace

std::optional<AgentFault> check_agent(const PreparedAgent& agent, AgentParts& parts) {
  if (!agent.executor) return unfit("the agent has no executor");
  if (const Status fit = check_capabilities(agent.executor->capabilities()); !fit) {
    return AgentFault{fit.error(), agent.charter.model};
  }
  if (auto fault = check_targets(agent)) return fault;
  if (auto fault = check_commands(agent)) return fault;
  auto schema = compiled(agent.charter.output_schema);
  if (!schema) return AgentFault{schema.error(), "output"};
  parts.output_schema = *std::move(schema);
  for (const CharterNode& node : agent.charter.machine.nodes) {
    auto of_node = compiled(node.output_schema);
    if (!of_node) return AgentFault{of_node.error(), "output"};
    parts.node_schemas.push_back(*std::move(of_node));
  }
  auto tools = ToolRegistry::make(agent.tools);
  if (!tools) return AgentFault{tools.error(), "tools"};
  parts.tools = *std::move(tools);
  if (auto fault = check_subagents(agent, parts.tools)) return fault;
  parts.mcp_servers = agent.executor->mcp_servers();
  for (const McpServerConfig& own : parts.mcp_servers) {
    if (auto fault = check_server(own.name, parts.tools)) return fault;
  }
  return std::nullopt;
}

std::optional<AgentFault> check_priced(const PreparedAgent& agent, const Limits& limits) {
  if (limits.cost_pico == 0 && limits.ask_cost_pico == 0) return std::nullopt;
  if (agent.charter.spending.unknown_price == Spending::UnknownPrice::allow) return std::nullopt;
  for (const ResolvedTarget& target : agent.targets) {
    const Prices& prices = target.facts.prices;
    const bool said = target.facts.priced == ExecutorModelDescriptor::Support::yes ||
                      prices.input > 0 || prices.output > 0;
    if (said) continue;
    return unfit("the price of " + target.literal +
                     " is not known, and so a bound on money cannot hold: give its prices in the "
                     "catalogue of models, or write budget: { unknown_price: allow }",
                 target.literal);
  }
  return std::nullopt;
}

Limits with_budget(Limits limits, const Spending& spending) {
  if (limits.cost_pico == 0) limits.cost_pico = spending.cost_pico;
  if (limits.ask_cost_pico == 0) limits.ask_cost_pico = spending.ask_cost_pico;
  return limits;
}

}  // namespace pawl
