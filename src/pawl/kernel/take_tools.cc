// What becomes of calls: outcomes, judgements and decisions of people, and what follows from them:
// a result, another attempt, a question, a doubt.
#include "pawl/kernel/decide_agents.h"
#include "pawl/kernel/decide_flow.h"
#include "pawl/kernel/machine.h"

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

// --- Events ------------------------------------------------------------------------------------

void take(Draft& draft, const ToolFinished& event) {
  take_result(draft, draft.instance(event.instance), draft.call(event.call), event);
  go_on_when_all_ended(draft, event.instance);
}

void take(Draft& draft, const ToolStatusLearned& event) {
  const Call& call = draft.call(event.call);
  draft.stop_where_crossed();
  const bool tried_enough = call.attempts >= draft.rules.reconciled_attempts_max;
  if (event.answer == StatusAnswer::absent && !tried_enough) {
    run_call(draft, call);
  } else if (event.answer != StatusAnswer::done) {
    doubt(draft, call);
  }
  go_on_when_all_ended(draft, event.instance);
}

void take(Draft& draft, const DoubtResolved& event) {
  draft.stop_where_crossed();
  // Where it would start a run it may be refused.
  if (event.verdict == DoubtVerdict::did_not_happen) run_call(draft, draft.call(event.call));
  go_on_when_all_ended(draft, event.instance);
}

void take(Draft& draft, const CallJudged& event) {
  draft.stop_where_crossed();
  take_judgement(draft, draft.instance(event.instance), draft.call(event.call), event.judgement);
  go_on_when_all_ended(draft, event.instance);
}

void take(Draft& draft, const CallDecided& event) {
  draft.stop_where_crossed();
  if (phase_of_call(draft.state.flow, event.call)) return take_checkpoint(draft, event);
  take_decision(draft, draft.instance(event.instance), draft.call(event.call), event);
  go_on_when_all_ended(draft, event.instance);
}

// --- What follows ------------------------------------------------------------------------------

bool may_have_acted(const RunState& state, const Call& call) {
  const EffectClass effect = tool_of(state, call).effect;
  return effect == EffectClass::once || effect == EffectClass::reconcilable;
}

void run_call(Draft& draft, const Call& call) {
  if (starts_run(draft.state, call)) return run_child(draft, call);
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
  const InstanceId id = instance.id;
  if (!again && event.end != ToolEnd::succeeded) stop_for_errors(draft, instance);
  // Not `instance`: its end may have made room for another, and births move instances about.
  if (has_nodes(draft.state) && !is_live(draft.instance(id))) return;
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
