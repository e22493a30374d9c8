// A record of what an event leads to: whose time it is, what was decided, and the run after it.
#include "pawl/kernel/machine.h"

namespace pawl {
namespace {

// The host's clocks and fences are not the kernel's to trust: fold() would not accept such a
// record.
Status check_stamp(const RunState& state, const Stamp& stamp) {
  if (stamp.epoch < state.epoch) {
    return Error{ErrorCode::conflict, "epoch " + std::to_string(stamp.epoch) +
                                          " is over: the run is in " + std::to_string(state.epoch)};
  }
  if (stamp.elapsed_ms < state.elapsed_ms) {
    return Error{ErrorCode::invalid_argument, "elapsed run time went backwards"};
  }
  return ok();
}

// Fills in what follows from the record's event.
Status complete(const Run& run, Record& record) {
  PAWL_CHECK(check_stamp(run.state(), record.stamp));
  Draft draft(run.state(), record.event, record.stamp);
  if (Refusal refusal = decide_into(draft, record.event)) return *std::move(refusal);
  const bool over = std::holds_alternative<RunFinished>(record.event);
  if (!over) draft.settle();
  record.seq = run->length;
  record.instance = instance_of(record.event);
  record.decisions = std::move(draft.decisions);
  record.effects = std::move(draft.effects);
  return ok();
}

Record record_of(Event&& event, const Stamp& stamp) {
  return {0, stamp, kRootInstance, std::move(event), {}, {}};
}

}  // namespace

Result<Record> decide(const Run& run, Event event, const Stamp& stamp) {
  Record record = record_of(std::move(event), stamp);
  PAWL_CHECK(complete(run, record));
  return record;
}

Status advance(Run& run, Record& record) {
  PAWL_CHECK(complete(run, record));
  // What was just decided fits by construction; if it does not, the kernel is broken.
  PAWL_ASSERT(fold(run, record).has_value());
  return ok();
}

Result<Record> advance(Run& run, Event event, const Stamp& stamp) {
  Record record = record_of(std::move(event), stamp);
  PAWL_CHECK(advance(run, record));
  return record;
}

}  // namespace pawl
