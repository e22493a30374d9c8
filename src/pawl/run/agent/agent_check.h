// Lists the reasons to refuse a run before it begins. `pawl validate` and `pawl run` both ask it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/base/schema.h"
#include "pawl/run/agent/agent.h"
#include "pawl/tools/tool_registry.h"

namespace pawl {

// Made while an agent is checked, for the run that follows.
struct AgentParts {
  ToolRegistry tools;
  std::vector<McpServerConfig> mcp_servers;
  std::optional<Schema> output_schema;
  std::vector<std::optional<Schema>> node_schemas;  // of the charter's nodes, in their order
};

struct AgentFault {
  Error error;
  std::string about = {};  // a text of the charter that it is about: a model, a tool; may be empty
};

// Fills `parts`. A fault: the executor, a model, a tool, a subagent, an MCP server or the output
// schema does not fit.
std::optional<AgentFault> check_agent(const PreparedAgent& agent, AgentParts& parts);

// A bound on money binds nothing where a model's price is not known. The limits are the charter's,
// or those that come with the call.
std::optional<AgentFault> check_priced(const PreparedAgent& agent, const Limits& limits);

// With what the charter's budget adds to the limits, of the charter or of the call.
Limits with_budget(Limits limits, const Spending& spending);

}  // namespace pawl
