// What a run has from the run that starts it as its subagent, or from its charter if none does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/charter/charter.h"
#include "pawl/kernel/agent_spec.h"
#include "pawl/kernel/events.h"
#include "pawl/run/agent/agent.h"

namespace pawl {

// An agent with the text of its charter. An agent of an agent is named "outer/inner".
struct AgentText {
  AgentSpec spec;
  std::string text;
};

// What became of a run that a call has started.
struct ChildOutcome {
  TreeBooks books;
  std::optional<WaitFor> waits = {};   // it is not over, and nothing of it is under way
  RunStatus status = RunStatus::done;  // it is over
};

// Where a run comes from that another one starts.
struct Descent {
  std::vector<Ancestor> lineage;
  std::vector<AgentText> agents;  // of its own
  Presence asks_parent = Presence::absent;
  std::string started_by;
};

// Of a charter whose agents have been read: all of them, and theirs, by name.
std::vector<AgentText> agents_of(const Charter& charter);
// Those of `agents` that belong to the agent with this name, named as it names them.
std::vector<AgentText> agents_beneath(const std::vector<AgentText>& agents, std::string_view name);
std::vector<AgentSpec> specs_of(const std::vector<AgentText>& agents);
// Whether its model is offered run_subagent: executors that run subagents of their own are left to
// it.
Presence offers_adhoc(const PreparedAgent& agent);
// Bounds of an agent's charter, and those that its entry under `agents` says besides: where both
// say something, the smaller one.
Limits limits_beside(Limits charter, const Limits& entry);

}  // namespace pawl
