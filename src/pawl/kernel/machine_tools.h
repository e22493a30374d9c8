// The tools that the kernel answers itself, as an instance is offered them in its node.
#pragma once

#include <vector>

#include "pawl/content.h"
#include "pawl/kernel/run.h"

namespace pawl {

inline constexpr std::string_view kTransitionTool = "transition_";
inline constexpr std::string_view kSpawnTool = "spawn_";
inline constexpr std::string_view kUpdateStateTool = "update_state";
inline constexpr std::string_view kCedeTool = "cede";
inline constexpr std::string_view kSuspendTool = "suspend";
inline constexpr std::string_view kWorkItemTool = "work_item_";
inline constexpr std::string_view kWorkItemAddTool = "work_item_add";
inline constexpr std::string_view kWorkItemDoneTool = "work_item_done";
inline constexpr std::string_view kWorkItemEscalateTool = "work_item_escalate";
inline constexpr std::string_view kDiscoverTool = "discover_step";

// In the order of the charter. None where the run has no nodes.
std::vector<ToolSpec> machine_tools(const RunState& state, const Instance& instance);

// What the model sees of its state and those of its packs at the end of a request; empty: it has
// none.
std::string shown_state(const RunState& state, const Instance& instance);

}  // namespace pawl
