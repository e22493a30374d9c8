// A durable event as the inside of Pawl sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/events.h"
#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl {

// A record with what the run was after it.
struct RecordView {
  RecordView() = default;
  // Of a record that is still to be decided.
  RecordView(Event&& event, const Stamp& stamp)
      : record{0, stamp, kRootInstance, std::move(event), {}, {}} {}

  RunId run;
  Record record;
  std::uint64_t step = 0;
  bool primary = true;
  RunStatus status = RunStatus::running;
  WaitFor wait = WaitFor::nothing;
  StopReason reason = StopReason::end_turn;
  std::string detail;
  Tally tally;
  std::string currency;
  std::vector<CallId> calls_in_doubt;   // of a run that waits or is over
  std::optional<std::uint64_t> output;  // the record with what the run had said by then
};

RecordView view_of(Record record, const RunState& after);
// Fills in all but the record itself.
void note_state(RecordView& view, const RunState& after);

// The record that holds what a finished (or stopped, or waiting) run says: its last text.
std::optional<std::uint64_t> output_record(const RunState& state);

}  // namespace pawl
