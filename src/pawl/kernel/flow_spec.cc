#include "pawl/kernel/flow_spec.h"

#include <algorithm>
#include <array>
#include <map>

namespace pawl {
namespace {

constexpr std::array<std::string_view, 2> kBatches = {"one", "all"};
constexpr std::array<std::string_view, 2> kNeeds = {"required", "optional"};

std::string fault_in(const PhaseSpec& phase, const std::vector<PhaseSpec>& phases,
                     const std::vector<NodeSpec>& nodes) {
  const int ways = !phase.node.empty() + !phase.agent.empty() + !phase.checkpoint.empty() +
                   phase.await.has_value();
  if (phase.name.empty()) return "a phase has no name";
  if (ways != 1) return "a phase has one of node, agent, checkpoint and await";
  if (!phase.node.empty() && find_node(nodes, phase.node) == nullptr) {
    return "there is no node " + phase.node;
  }
  const auto named = [&phase](const PhaseSpec& one) { return one.name == phase.name; };
  if (std::count_if(phases.begin(), phases.end(), named) > 1) return "its name stands twice";
  for (const std::string& before : phase.after) {
    if (find_phase(phases, before) == nullptr) return "after names no phase " + before;
  }
  return "";
}

// Takes away what waits for nothing until nothing is left; what stays waits for itself.
std::string on_a_circle(const std::vector<PhaseSpec>& phases) {
  std::map<std::string_view, std::size_t> waits_for;
  std::map<std::string_view, std::vector<std::string_view>> followers;
  std::vector<std::string_view> ready;
  for (const PhaseSpec& phase : phases) {
    waits_for[phase.name] = phase.after.size();
    for (const std::string& before : phase.after) followers[before].push_back(phase.name);
    if (phase.after.empty()) ready.push_back(phase.name);
  }
  while (!ready.empty()) {
    const std::string_view done = ready.back();
    ready.pop_back();
    waits_for.erase(done);
    for (const std::string_view next : followers[done]) {
      if (--waits_for[next] == 0) ready.push_back(next);
    }
  }
  return waits_for.empty() ? "" : std::string(waits_for.begin()->first);
}

}  // namespace

const PhaseSpec* find_phase(const std::vector<PhaseSpec>& phases, std::string_view name) {
  const auto found = std::find_if(phases.begin(), phases.end(),
                                  [name](const PhaseSpec& phase) { return phase.name == name; });
  return found == phases.end() ? nullptr : &*found;
}

bool has_phase_of(const std::vector<PhaseSpec>& phases, std::string_view node) {
  return std::any_of(phases.begin(), phases.end(),
                     [node](const PhaseSpec& phase) { return phase.node == node; });
}

std::string fault_of(const std::vector<PhaseSpec>& phases, const std::vector<NodeSpec>& nodes) {
  if (phases.size() > kPhasesMax) return "there are too many phases";
  for (const PhaseSpec& phase : phases) {
    const std::string fault = fault_in(phase, phases, nodes);
    if (!fault.empty()) return "phase " + phase.name + ": " + fault;
  }
  const std::string circle = on_a_circle(phases);
  return circle.empty() ? "" : "phase " + circle + " waits for itself";
}

std::string_view name(Batch value) {
  return kBatches[static_cast<std::size_t>(value)];
}

std::string_view name(PhaseNeed value) {
  return kNeeds[static_cast<std::size_t>(value)];
}

}  // namespace pawl
