#include "pawl/kernel/flow_state.h"

#include <algorithm>

#include "pawl/result.h"

namespace pawl {

std::optional<std::uint32_t> place_of(const FlowState& flow, std::string_view phase) {
  for (std::size_t i = 0; i < flow.specs.size(); ++i) {
    if (flow.specs[i].name == phase) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> phase_of_call(const FlowState& flow, CallId call) {
  for (std::uint32_t i = 0; i < flow.runs.size(); ++i) {
    if (flow.runs[i].call == call && call != CallId{}) return i;
  }
  return std::nullopt;
}

bool is_settled(PhaseStatus status) {
  return status != PhaseStatus::pending && status != PhaseStatus::running &&
         status != PhaseStatus::waiting;
}

bool lets_go_on(const PhaseSpec& spec, PhaseStatus status) {
  const bool failed = status == PhaseStatus::failed || status == PhaseStatus::cancelled;
  return is_settled(status) && (!failed || spec.need == PhaseNeed::optional);
}

bool has_failed(const PhaseSpec& spec, const PhaseRun& run) {
  return is_settled(run.status) && !lets_go_on(spec, run.status);
}

bool may_begin(const PhaseSpec& spec, const PhaseRun& run) {
  if (run.status != PhaseStatus::running) return false;
  if (run.own == SeatEnd::done) {
    return run.live == 0 && run.found_next < run.found.size();
  }
  if (run.own == SeatEnd::failed) return false;
  if (!run.map) return run.begun == Presence::absent;
  return run.map->failed <= spec.map->tolerate && run.map->running < spec.map->max &&
         !run.map->heads.empty();
}

std::vector<std::uint32_t> dependents_of(const FlowState& flow, std::uint32_t phase) {
  std::vector<bool> in(flow.specs.size(), false);
  std::vector<std::uint32_t> found = {phase};
  in[phase] = true;
  for (std::size_t at = 0; at < found.size(); ++at) {
    const std::string& name = flow.specs[found[at]].name;
    for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
      const auto& after = flow.specs[i].after;
      if (in[i] || std::find(after.begin(), after.end(), name) == after.end()) continue;
      in[i] = true;
      found.push_back(i);
    }
  }
  return found;
}

std::uint32_t next_item(const MapRun& map) {
  PAWL_ASSERT(!map.heads.empty());
  const MapLane& lane = map.lanes.at(map.heads.front());
  return lane.items.at(lane.next);
}

}  // namespace pawl
