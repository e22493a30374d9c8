// Questions about the runs that a run has started as its subagents, and about the one that started
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/content.h"
#include "pawl/kernel/run.h"

namespace pawl {

inline constexpr std::string_view kAgentTool = "agent__";  // followed by the agent's name
inline constexpr std::string_view kAdhocTool = "run_subagent";
// Runs of this process that are not over and were started by one run.
inline constexpr std::size_t kChildRunsMax = 10'000;

bool is_agent_tool(std::string_view tool);
bool has_agents(const RunState& state);
// Whether the call starts a run, if it may.
bool starts_run(const RunState& state, const Call& call);
// nullptr: there is none, or it is over.
const ChildRun* find_child(const RunState& state, CallId call);
// The id of the run that the call starts. It depends on nothing but the call's key.
RunId child_run_id(const RunState& state, CallId call);
// Whether an id has the form of those. A host may give one of that form to any run.
bool looks_like_child(const RunId& run);
// What the run adds to the lineage of the one that the call starts.
Ancestor as_ancestor(const RunState& state, CallId call);

// Whether another run has started it.
bool has_parent(const RunState& state);
TreeBooks books_of(const RunState& state, PlaceUse use);
// What runs beneath it have been granted and not used.
Reserved granted(const RunState& state);
// Whether runs that it starts ask it before they call a model: it has a bound to hold.
Presence is_asked_by_children(const RunState& state);
// Tokens that a run may use that is started now; at least one.
std::uint64_t tokens_for_child(const RunState& state);
// Places that a run takes with those beneath it.
std::uint32_t places_of(std::uint32_t beneath, PlaceUse use);

// As a model is offered them.
ToolSpec agent_tool(const AgentSpec& agent);
ToolSpec adhoc_tool();

}  // namespace pawl
