// What becomes of a call: a result, another attempt, a question, a doubt.
#include "pawl/kernel/draft.h"

namespace pawl {
namespace {

const PinnedTool& tool_of(const RunState& state, const Call& call) {
  const PinnedTool* tool = tool_of_call(state, call);
  PAWL_ASSERT(tool != nullptr);
  return *tool;
}

bool was_cut_short(const ToolFinished& event) {
  return event.end == ToolEnd::timed_out || event.end == ToolEnd::aborted;
}

// Only what does no harm twice, and only so often: the key is the same for every attempt.
bool is_worth_another(const Draft& draft, const Call& call, const ToolFinished& event) {
  return was_cut_short(event) && !may_have_acted(draft.state, call) &&
         call.attempts < draft.rules.tool_attempts_max && !draft.ending();
}

}  // namespace

bool may_have_acted(const RunState& state, const Call& call) {
  const EffectClass effect = tool_of(state, call).effect;
  return effect == EffectClass::once || effect == EffectClass::reconcilable;
}

void run_call(Draft& draft, const Call& call) {
  if (draft.over(call.instance)) return;
  if (draft.pausing()) return draft.add(CallHeld{call.id, HeldFor::run});
  draft.start(RunTool{{}, call.instance, call.id, call.attempts + 1});
}

void ask_status(Draft& draft, const Call& call) {
  if (draft.ending()) return draft.add(CallInDoubt{call.id});
  if (draft.pausing()) return draft.add(CallHeld{call.id, HeldFor::status});
  draft.start(AskStatus{{}, call.instance, call.id});
}

void doubt(Draft& draft, const Call& call) {
  if (tool_of(draft.state, call).on_doubt == OnDoubt::tell_model) {
    const std::string_view text = draft.rules.say.outcome_unknown;
    draft.add(CallUnknown{call.id, std::string(text), draft.rules.estimate_tokens(text.size())});
  } else {
    draft.add(CallInDoubt{call.id});
  }
}

void take_result(Draft& draft, const Instance& instance, const Call& call,
                 const ToolFinished& event) {
  if (event.callback_stop) {
    draft.stop(RunStatus::stopped, StopReason::callback, "after_tool: " + *event.callback_stop);
  }
  const bool again = is_worth_another(draft, call, event);
  if (!again && event.end != ToolEnd::succeeded) stop_for_errors(draft, instance);
  if (has_nodes(draft.state) && !is_live(instance)) return;
  draft.stop_where_crossed();
  if (again && !draft.ending()) {
    draft.add(CallRetried{call.id});
    return run_call(draft, call);
  }
  if (!was_cut_short(event) || !may_have_acted(draft.state, call)) return;
  const bool askable = tool_of(draft.state, call).effect == EffectClass::reconcilable;
  if (askable && !draft.ending()) return ask_status(draft, call);
  doubt(draft, call);
}

}  // namespace pawl
