// Questions about the tree of instances, of a run whose charter has nodes.
#include <algorithm>

#include "pawl/kernel/run.h"
#include "pawl/result.h"

namespace pawl {
namespace {

bool lists(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of the node, and of those of the instance's ancestors, the nearest first.
const PinnedTool* find_in_nodes(const RunState& state, const Instance& instance,
                                std::string_view name) {
  const Instance* at = &instance;
  for (std::uint32_t depth = 0; at != nullptr && depth <= kDepthMax; ++depth) {
    const PinnedTool* tool = find_definition(state, name, ToolScope::node, at->node);
    if (tool != nullptr) return tool;
    if (at->id == kRootInstance) return nullptr;
    at = find_instance(state, at->parent);
  }
  return nullptr;
}

bool has_pack(const Instance& instance, const NodeSpec& node, std::string_view pack) {
  return sees_packs(instance) && lists(node.packs, pack);
}

// A tool of the charter's that packs name is there only where one of them is.
bool is_kept_by_packs(const RunState& state, const Instance& instance, const NodeSpec& node,
                      std::string_view tool) {
  bool named = false;
  for (const PackSpec& pack : state.packs) {
    if (!lists(pack.tools, tool)) continue;
    if (has_pack(instance, node, pack.name)) return false;
    named = true;
  }
  return named;
}

const PinnedTool* find_in_packs(const RunState& state, const Instance& instance,
                                const NodeSpec& node, std::string_view name) {
  for (const std::string& pack : node.packs) {
    if (!has_pack(instance, node, pack)) continue;
    const PinnedTool* tool = find_definition(state, name, ToolScope::pack, pack);
    if (tool != nullptr) return tool;
  }
  return nullptr;
}

const PinnedTool* nearest(const RunState& state, const Instance& instance, const NodeSpec& node,
                          std::string_view name) {
  if (const PinnedTool* tool = find_in_nodes(state, instance, name)) return tool;
  const PinnedTool* tool = find_definition(state, name, ToolScope::charter, "");
  if (tool != nullptr && !is_kept_by_packs(state, instance, node, name)) return tool;
  return find_in_packs(state, instance, node, name);
}

}  // namespace

bool sees_packs(const Instance& instance) {
  return instance.kind == NodeKind::primary || instance.seat.has_value();
}

bool has_nodes(const RunState& state) {
  return !state.nodes.empty() || has_flow(state);
}

bool has_flow(const RunState& state) {
  return !state.flow.specs.empty();
}

bool is_agent_seat(const RunState& state, const Instance& instance) {
  if (!instance.seat || instance.seat->phase >= state.flow.specs.size()) return false;
  return !state.flow.specs[instance.seat->phase].agent.empty();
}

bool flow_may_go_on(const RunState& state) {
  if (!has_flow(state) || !std::holds_alternative<Going>(state.course)) return false;
  const Instance* root = find_instance(state, kRootInstance);
  if (root == nullptr || !std::holds_alternative<Flowing>(root->phase)) return false;
  const bool begins = std::any_of(state.open.begin(), state.open.end(), [](const OpenEffect& one) {
    return one.kind == EffectKind::begin_agent;
  });
  if (begins || state.begin_held == Presence::present) return false;
  const bool room = live_count(state) <= state.limits.branches;
  return !state.flow.ready.empty() || (!state.flow.queue.empty() && room);
}

bool has_waited_enough(const PhaseRun& run, std::int64_t at_ms, std::uint64_t elapsed_ms) {
  return run.status == PhaseStatus::waiting && run.until_at_ms != 0 &&
         (at_ms >= run.until_at_ms || elapsed_ms >= run.until_elapsed_ms);
}

bool is_live(const Instance& instance) {
  return !std::holds_alternative<Ended>(instance.phase);
}

bool has_news(const Instance& instance) {
  return instance.waiting_messages.size() > instance.silent_messages || !instance.contents.empty();
}

// Primary children form one line from the root.
InstanceId default_target(const RunState& state) {
  const Instance* at = find_instance(state, kRootInstance);
  for (std::uint32_t depth = 0; at != nullptr && at->child && depth <= kDepthMax; ++depth) {
    at = find_instance(state, *at->child);
  }
  return at == nullptr ? kRootInstance : at->id;
}

std::size_t live_count(const RunState& state) {
  return state.instances.size() - state.ended;
}

const NodeSpec& node_of(const RunState& state, const Instance& instance) {
  static const NodeSpec kNone;
  if (instance.id == kRootInstance && has_flow(state)) return kNone;
  if (is_agent_seat(state, instance)) return kNone;
  const NodeSpec* node = find_node(state.nodes, instance.node);
  PAWL_ASSERT(node != nullptr);
  return *node;
}

const PackState* find_pack_state(const std::vector<PackState>& states, std::string_view pack) {
  const auto found = std::find_if(states.begin(), states.end(),
                                  [pack](const PackState& one) { return one.name == pack; });
  return found == states.end() ? nullptr : &*found;
}

std::uint64_t base_tokens_of(const RunState& state, const Instance& instance) {
  const NodeSpec* node = find_node(state.nodes, instance.node);
  return node == nullptr ? state.base_tokens : node->base_tokens;
}

std::uint32_t first_target(const RunState& state, const Instance& instance) {
  const NodeSpec* node = find_node(state.nodes, instance.node);
  return node == nullptr || node->targets.empty() ? 0 : node->targets.front();
}

std::optional<std::uint32_t> target_after(const RunState& state, const Instance& instance,
                                          std::uint32_t target) {
  const NodeSpec* node = find_node(state.nodes, instance.node);
  if (node == nullptr || node->targets.empty()) {
    if (target + 1 < state.targets.size()) return target + 1;
    return std::nullopt;
  }
  const auto at = std::find(node->targets.begin(), node->targets.end(), target);
  if (at == node->targets.end() || at + 1 == node->targets.end()) return std::nullopt;
  return *(at + 1);
}

std::vector<SuspendedInstance> suspended_in(const RunState& state) {
  std::vector<SuspendedInstance> suspended;
  if (!has_nodes(state)) return suspended;
  for (const Instance& one : state.instances) {
    const Suspended* phase = std::get_if<Suspended>(&one.phase);
    if (phase == nullptr) continue;
    suspended.push_back({one.id, phase->suspend_id, phase->reason, phase->metadata});
  }
  return suspended;
}

bool awaits_birth(const RunState& state, InstanceId parent) {
  return std::any_of(state.births.begin(), state.births.end(),
                     [parent](const PendingBirth& one) { return one.parent == parent; });
}

const PinnedTool* find_definition(const RunState& state, std::string_view name, ToolScope scope,
                                  std::string_view owner) {
  for (const PinnedTool& tool : state.tools) {
    if (tool.name == name && tool.scope == scope && tool.owner == owner) return &tool;
  }
  return nullptr;
}

const PinnedTool* tool_of_call(const RunState& state, const Call& call) {
  return find_definition(state, call.tool, call.scope, call.owner);
}

const PinnedTool* tool_in_scope(const RunState& state, const Instance& instance,
                                std::string_view name) {
  const NodeSpec* node = find_node(state.nodes, instance.node);
  if (node == nullptr) return find_tool(state, name);
  if (node->tools && !lists(*node->tools, name)) return nullptr;
  return nearest(state, instance, *node, name);
}

}  // namespace pawl
