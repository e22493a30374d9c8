// Events as JSON lines: the public form of a run's history. See docs/events.md.
#pragma once

#include <optional>
#include <string>

#include "pawl/journal/record_view.h"
#include "pawl/store.h"

namespace pawl {

// What the last event of a run carries beside its own fields.
struct FinalFields {
  std::optional<std::string> output;  // nothing: it cannot be read
};

// {"run":…,"seq":…,"type":…,"at":…,"step":…,"instance":…,"primary":…, the event's own fields,
// "decisions":[…],"effects":[…]}. run_finished and run_waiting also have status, stop_reason,
// output, usage and cost; `final_fields` is for them.
std::string event_json(const RecordView& view, const FinalFields* final_fields);
// Contents that are JSON (arguments of calls, raw blocks): as JSON, or as the text they are.
enum class Contents : std::uint8_t { parsed, verbatim };
// Everything that is in a record, as one object: seq, epoch, at_ms, elapsed_ms, type, instance, the
// event's own fields, decisions, effects. For comparing.
std::string record_json(const Record& record, Contents contents);
// {"run":…,"type":"preview","after_seq":…,…}: no seq, because it is not durable.
std::string preview_json(const Preview& preview);

// "2026-11-15T03:20:00.123Z"
std::string format_time(std::int64_t wall_ms);

}  // namespace pawl
