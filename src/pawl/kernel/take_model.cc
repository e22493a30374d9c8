// What follows from what a model reports: replies, failures, summaries.
#include "pawl/kernel/decide_tree.h"
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

// A call whose outcome nobody knows is charged as it was set aside: at the dearest rates that its
// input may have, since nobody knows its size either.
template <class Asked>
static void charge_unknown(Draft& draft, const Asked& asked, const Usage& usage) {
  if (usage != asked.reserved) return;
  const std::uint64_t listed = cost_pico(usage, draft.state.targets.at(asked.target).prices);
  const std::uint64_t most = draft.worst_cost(usage, asked.target);
  if (most > listed) draft.add(CostAdded{most - listed});
}

void take(Draft& draft, const Before& before, const ModelFailed& event) {
  const auto& asked = std::get<AwaitingModel>(before.phase);
  charge_unknown(draft, asked, event.usage);
  take_failure(draft, draft.instance(event.instance), asked, event);
}

void take(Draft& draft, const Before& before, const ModelAborted& event) {
  const Instance& instance = draft.instance(event.instance);
  const auto& asked = std::get<AwaitingModel>(before.phase);
  charge_unknown(draft, asked, event.usage);
  if (draft.pausing()) draft.add(InstanceReadied{instance.id, asked.failed_attempts});
  if (!draft.going()) return;
  // It was resumed before the abort had taken effect, or is to read something first.
  if (instance.urgent_message == Presence::present) {
    const auto waiting = static_cast<std::uint32_t>(instance.waiting_messages.size());
    draft.add(MessagesDelivered{instance.id, waiting});
  }
  call_again(draft, instance);
}

void take(Draft& draft, const Before& before, const ContextCompacted& event) {
  if (draft.instance(event.instance).leave && !draft.ending()) {
    draft.stop_where_crossed();
    return take_leaving_summary(draft, event.instance, &event.summary);
  }
  take_cut(draft, draft.instance(event.instance), std::get<Compacting>(before.phase),
           CutBy::summary, draft.rules.estimate_tokens(event.summary.length()));
}

void take(Draft& draft, const Before& before, const CompactionFailed& event) {
  const auto& asked = std::get<Compacting>(before.phase);
  charge_unknown(draft, asked, event.usage);
  if (draft.instance(event.instance).leave && !draft.ending()) {
    draft.stop_where_crossed();
    return take_leaving_summary(draft, event.instance, nullptr);
  }
  take_cut(draft, draft.instance(event.instance), asked, CutBy::trim, 0);
}

}  // namespace pawl
