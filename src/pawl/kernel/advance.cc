// A record of what an event leads to, made by checking and taking it; and the same record applied
// again.
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/machine.h"

namespace pawl {
namespace {

Status check_next(const RunState& state, const Record& record) {
  const bool first = std::holds_alternative<RunStarted>(record.event);
  if (record.seq != state.length) {
    return Error{ErrorCode::corrupt, "sequence gap: expected " + std::to_string(state.length) +
                                         ", got " + std::to_string(record.seq)};
  }
  if (record.stamp.epoch < state.epoch) return Error{ErrorCode::corrupt, "its epoch is older"};
  if (record.stamp.elapsed_ms < state.elapsed_ms) {
    return Error{ErrorCode::corrupt, "its elapsed time is earlier"};
  }
  if (first != std::holds_alternative<NotStarted>(state.life)) {
    return Error{ErrorCode::corrupt, "run_started comes first, and only once"};
  }
  const bool over = std::holds_alternative<Finished>(state.life);
  const bool reopens = std::holds_alternative<RunReopened>(record.event) ||
                       (over && std::holds_alternative<PhaseControlled>(record.event));
  if (over != reopens) {
    return Error{ErrorCode::corrupt, reopens ? "the run was not over" : "the run was already over"};
  }
  return ok();
}

Status apply_all(Run& run, const Record& record) {
  PAWL_CHECK(check_next(run.state(), record));
  Applier applier(run, record);
  applier.apply_event();
  for (const Decision& decision : record.decisions) applier.apply(decision);
  for (const Effect& effect : record.effects) applier.apply(effect);
  if (applier.fault().empty()) return ok();
  return Error{ErrorCode::corrupt, applier.fault()};
}

// What the event finds: application changes it.
Before before_of(const RunState& state, const Event& event) {
  Before before;
  if (const Instance* instance = find_instance(state, instance_of(event))) {
    before.phase = instance->phase;
  }
  if (const auto* stopped = std::get_if<HookStopped>(&event)) {
    if (const OpenEffect* effect = effect_stopped_by(state, *stopped)) before.stopped = *effect;
  }
  if (const auto* answered = std::get_if<ParentAnswered>(&event)) {
    const OpenEffect* effect = find_effect(state, answered->effect);
    if (effect != nullptr) before.asked = effect->kind;
  }
  return before;
}

}  // namespace

void take_event(Draft& draft, const Event& event) {
  const Before before = before_of(draft.state, event);
  draft.take_event();
  std::visit(
      [&](const auto& fact) {
        if constexpr (requires { take(draft, before, fact); }) {
          take(draft, before, fact);
        } else if constexpr (requires { take(draft, fact); }) {
          take(draft, fact);
        }
      },
      event);
  if (has_flow(draft.state)) go_on_with_flow(draft);
  draft.finish();
}

Status check(const Run& run, const Event& event, const Stamp& stamp) {
  if (Refusal refusal = refusal_of(run, event, stamp)) return *std::move(refusal);
  return ok();
}

Status advance(Run& run, Record& record) {
  PAWL_CHECK(check(run, record.event, record.stamp));
  Draft draft(run, record);
  take_event(draft, record.event);
  return ok();
}

Result<Record> advance(Run& run, Event event, const Stamp& stamp) {
  Record record{0, stamp, kRootInstance, std::move(event), {}, {}};
  PAWL_CHECK(advance(run, record));
  return record;
}

Status fold(Run& run, const Record& record) {
  if (const auto* started = std::get_if<RunStarted>(&record.event)) {
    PAWL_CHECK(check_semantics(started->semantics));
  }
  const Status applied = apply_all(run, record);
  if (applied) return ok();
  return Error{ErrorCode::corrupt, "record " + std::to_string(record.seq) + " (" +
                                       std::string(name(record.event)) +
                                       ") does not fit the run: " + applied.error().message};
}

}  // namespace pawl
