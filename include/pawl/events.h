// What subscribers of a run see: durable events, and previews of what is not durable yet.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/ids.h"
#include "pawl/limits.h"
#include "pawl/words.h"

namespace pawl {

// One durable event with all that Pawl knows of it. Hosts ask the functions below.
struct RecordView;

// What a host needs of a durable event, if it does not want all of it as JSON.
struct EventSummary {
  RunId run;
  std::uint64_t seq = 0;  // dense: 0, 1, 2, …
  std::string_view type;  // "model_replied": see docs/events.md
  InstanceId instance = kRootInstance;
  std::int64_t at_ms = 0;  // wall time
  std::uint64_t step = 0;
  RunStatus status = RunStatus::running;  // of the run, after this event
  WaitFor wait = WaitFor::nothing;
  StopReason reason = StopReason::end_turn;  // of a run that is over or ending
  Tally tally;                               // what the run has used by then
};
EventSummary summary_of(const RecordView& event);
// The event as one line of JSON: docs/events.md. What a run says at its end is in Runner::Result.
std::string event_json(const RecordView& event);

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
