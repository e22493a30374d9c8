#include "pawl/history/explain_tree.h"

#include <fmt/format.h>

namespace pawl {
namespace {

constexpr std::size_t kInstancesExplainedMax = 20;

std::string rest_of(const RunState& state, const Instance& instance) {
  const std::string id = to_string(instance.id);
  if (const auto* failing = std::get_if<Failing>(&instance.phase)) {
    return fmt::format("{} has failed ({}); the run ends when its {} workers have ended.\n", id,
                       failing->detail, instance.workers);
  }
  if (const auto* suspended = std::get_if<Suspended>(&instance.phase)) {
    return fmt::format(
        "{} is suspended ({}); others go on. pawl resume {} --instance {} "
        "--suspend-id {}\n",
        id, suspended->reason, state.id.text, id, suspended->suspend_id);
  }
  if (!std::holds_alternative<Resting>(instance.phase)) return "";
  if (instance.id == kRootInstance && state.final_output) {
    return fmt::format("The output of the run is final; {} workers go on.\n", instance.workers);
  }
  if (instance.child) {
    return fmt::format("{} rests until its child {} has ended.\n", id, to_string(*instance.child));
  }
  if (instance.workers == 0) return "";
  return fmt::format("The turn of {} is over; it ends when its {} workers have ended.\n", id,
                     instance.workers);
}

std::string births_of(const RunState& state) {
  if (state.births.empty()) return "";
  return fmt::format(
      "{} children that start with their node wait for room: {} of {} instances live "
      "(`limits.branches`).\n",
      state.births.size(), live_count(state) - 1, state.limits.branches);
}

}  // namespace

std::string explain_instances(const RunState& state) {
  if (!has_nodes(state)) return "";
  std::string text;
  std::size_t told = 0;
  for (const Instance& instance : state.instances) {
    const std::string one = rest_of(state, instance);
    if (one.empty() || ++told > kInstancesExplainedMax) continue;
    text += one;
  }
  if (told > kInstancesExplainedMax) {
    text += fmt::format("And {} more; see pawl tree {}\n", told - kInstancesExplainedMax,
                        state.id.text);
  }
  return text + births_of(state);
}

std::string explain_held_instances(const RunState& state) {
  std::string text;
  for (const Instance& instance : state.instances) {
    const std::string id = to_string(instance.id);
    if (const Suspended* phase = std::get_if<Suspended>(&instance.phase)) {
      text += fmt::format("{} is suspended ({}): pawl resume {} --instance {} --suspend-id {}\n",
                          id, phase->reason, state.id.text, id, phase->suspend_id);
    }
    if (std::holds_alternative<AwaitingExternal>(instance.phase)) {
      text += fmt::format(
          "{} has handed its turn to the host: pawl push {} --message TEXT answers it, then pawl "
          "resume {}\n",
          id, state.id.text, state.id.text);
    }
  }
  return text;
}

}  // namespace pawl
