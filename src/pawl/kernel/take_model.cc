// What follows from what a model reports: replies, failures, summaries.
#include "pawl/kernel/context.h"
#include "pawl/kernel/machine.h"

namespace pawl {

void take(Draft& draft, const ModelReplied& event) {
  if (event.callback_stop) {
    draft.stop(RunStatus::stopped, StopReason::callback, "after_model: " + *event.callback_stop);
  }
  take_reply(
      draft, draft.instance(event.instance),
      {event.blocks, event.stop, event.stop_detail, event.stop_metadata, event.output_fault});
}

void take(Draft& draft, const Before& before, const ModelFailed& event) {
  const Instance& instance = draft.instance(event.instance);
  const bool lost = instance.sessions.size() < before.sessions;
  take_failure(draft, instance, std::get<AwaitingModel>(before.phase), event,
               lost ? Presence::present : Presence::absent);
}

void take(Draft& draft, const Before& before, const ModelAborted& event) {
  const Instance& instance = draft.instance(event.instance);
  const auto& asked = std::get<AwaitingModel>(before.phase);
  if (draft.pausing()) draft.add(InstanceReadied{instance.id, asked.failed_attempts});
  // It was resumed before the abort had taken effect.
  if (draft.going()) call_again(draft, instance);
}

void take(Draft& draft, const Before& before, const ContextCompacted& event) {
  take_cut(draft, draft.instance(event.instance), std::get<Compacting>(before.phase),
           CutBy::summary, estimate_tokens(event.summary.length()));
}

void take(Draft& draft, const Before& before, const CompactionFailed& event) {
  take_cut(draft, draft.instance(event.instance), std::get<Compacting>(before.phase), CutBy::trim,
           0);
}

}  // namespace pawl
