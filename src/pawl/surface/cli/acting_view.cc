#include "pawl/surface/cli/acting_view.h"

#include <fmt/format.h>

#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::size_t kNodeColumnsMax = 40;

// It has something under way, or waits for a time.
bool acts(const Instance& instance) {
  return is_live(instance) && !instance.child && !std::holds_alternative<Resting>(instance.phase) &&
         !std::holds_alternative<Suspended>(instance.phase) &&
         !std::holds_alternative<Flowing>(instance.phase) &&
         !std::holds_alternative<Failing>(instance.phase);
}

std::string tools_of(const RunState& state, InstanceId id) {
  std::string names;
  for (const Call& call : state.calls) {
    const bool mine = call.instance == id && !std::holds_alternative<CallEnded>(call.state);
    if (mine) names += (names.empty() ? "" : ", ") + call.tool;
  }
  return names;
}

std::string doing(const RunState& state, const Instance& instance) {
  if (std::holds_alternative<AwaitingModel>(instance.phase)) return "asks its model";
  if (std::holds_alternative<Compacting>(instance.phase)) return "sums up";
  if (std::holds_alternative<AwaitingTools>(instance.phase)) {
    return "runs " + tools_of(state, instance.id);
  }
  return std::visit([](const auto& phase) { return std::string(phase.kName); }, instance.phase);
}

std::string line_of(const RunState& state, const Instance& instance, std::size_t columns) {
  const std::string line = fmt::format(
      "  {} {}{} · step {} · {}", to_string(instance.id), safe_line(instance.node, kNodeColumnsMax),
      instance.kind == NodeKind::worker ? " (worker)" : "", instance.node_steps,
      safe_line(doing(state, instance), columns));
  return std::string(cut_columns(line, columns));
}

}  // namespace

std::vector<std::string> acting_lines(const RunState& state, std::size_t columns) {
  std::vector<std::string> lines;
  if (!has_nodes(state) || live_count(state) < 2) return lines;
  std::size_t more = 0;
  for (const Instance& instance : state.instances) {
    if (!acts(instance)) continue;
    if (lines.size() < kActingLinesMax) {
      lines.push_back(line_of(state, instance, columns));
    } else {
      ++more;
    }
  }
  if (more > 0) lines.push_back(fmt::format("  and {} more", more));
  return lines;
}

}  // namespace pawl
