// What subscribers of a run see: durable events, and previews of what is not durable yet.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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

// A piece of a reply under way: never journaled. `after_seq` is the last durable record then.
struct Preview {
  enum class Kind : std::uint8_t { text, thinking, tool_input };
  RunId run;
  std::uint64_t after_seq = 0;
  InstanceId instance = kRootInstance;
  std::uint64_t step = 0;
  std::uint32_t attempt = 0;
  EffectId effect{};
  Kind kind = Kind::text;
  std::uint64_t offset = 0;  // of `text` among the bytes of this kind in this attempt
  std::string text;
};

// A sentence for people; nothing depends on it.
struct RunLogLine {
  RunId run;
  std::string text;
};

using RunEvent = std::variant<std::shared_ptr<const RecordView>, Preview, RunLogLine>;
// Called on the loop thread. What it throws is swallowed: watching changes nothing.
using RunEventSink = std::function<void(const RunEvent&)>;

}  // namespace pawl
