// Summarises the state of a run for lists of runs.
#pragma once

#include "pawl/kernel/run.h"
#include "pawl/store.h"

namespace pawl {

inline std::string summary_reason(const RunState& state) {
  const RunStatus status = status_of(state);
  if (status == RunStatus::waiting) return std::string(name(waits_for(state)));
  if (status == RunStatus::running || status == RunStatus::queued) return "";
  return std::string(name(stop_reason_of(state)));
}

inline RunSummary summary_of(const RunState& state) {
  RunSummary summary;
  summary.id = state.id;
  summary.tenant = state.tenant;
  summary.name = state.name;
  summary.status = name(status_of(state));
  summary.reason = summary_reason(state);
  summary.created_at_ms = state.started_at_ms;
  summary.updated_at_ms = state.at_ms;
  return summary;
}

}  // namespace pawl
