#include "pawl/journal/record_view.h"

#include <utility>

namespace pawl {

EventSummary summary_of(const RecordView& event) {
  const Record& record = event.record;
  return {event.run,  record.seq,   name(record.event), record.instance, record.stamp.at_ms,
          event.step, event.status, event.wait,         event.reason,    event.tally};
}

RecordView view_of(Record record, const RunState& after) {
  RecordView view;
  view.record = std::move(record);
  note_state(view, after);
  return view;
}

void note_state(RecordView& view, const RunState& after) {
  const Record& record = view.record;
  view.run = after.id;
  view.step = after.tally.steps;
  const Instance* instance = find_instance(after, record.instance);
  view.primary = record.instance == kRootInstance ||
                 (has_nodes(after) && instance != nullptr && instance->kind == NodeKind::primary);
  view.status = status_of(after);
  view.wait = waits_for(after);
  view.reason = stop_reason_of(after);
  if (const Ending* ending = std::get_if<Ending>(&after.course)) view.detail = ending->detail;
  view.tally = after.tally;
  view.currency = after.prices.currency;
  const bool last = std::holds_alternative<RunFinished>(record.event) ||
                    std::holds_alternative<RunWaiting>(record.event);
  if (last) view.calls_in_doubt = calls_in_doubt(after);
  view.output = output_record(after);
}

std::optional<std::uint64_t> output_record(const RunState& state) {
  if (const Finished* finished = std::get_if<Finished>(&state.life)) return finished->output;
  const Instance* root = find_instance(state, kRootInstance);
  return root != nullptr ? root->last_text : std::nullopt;
}

}  // namespace pawl
