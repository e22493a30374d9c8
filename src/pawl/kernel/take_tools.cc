// Transitions of an instance that waits for its tools: outcomes, doubts, judgements, decisions.
#include "pawl/kernel/machine.h"

namespace pawl {
namespace {

// A call of the instance that the event names; outcomes that name another's are astray.
const Call* call_of(Scene scene, CallId id) {
  const Call* call = find_call(scene.draft.state, id);
  return call != nullptr && call->instance == scene.instance.id ? call : nullptr;
}

}  // namespace

Refusal on(Scene scene, const AwaitingTools&, const ToolFinished& event) {
  Draft& draft = scene.draft;
  const Call* call = call_of(scene, event.call);
  const CallRunning* running = call == nullptr ? nullptr : std::get_if<CallRunning>(&call->state);
  if (running == nullptr || running->effect != event.effect) return late(event.kName, event.effect);
  draft.close(event.effect);
  take_result(draft, scene.instance, *call, event);
  go_on_when_all_ended(draft, scene.instance.id);
  return kAccepted;
}

// Kept for whoever decides about the call, as long as nobody has; the first one only.
Refusal on(Scene scene, const AwaitingTools&, const ResultCameLate& event) {
  const Call* call = call_of(scene, event.call);
  const bool undecided = call != nullptr && !std::holds_alternative<CallRunning>(call->state) &&
                         !std::holds_alternative<CallEnded>(call->state);
  if (!undecided || event.effect == EffectId{} || event.effect != call->last_run ||
      call->late_result) {
    return refuse(to_string(event.call) + " needs no evidence from " + to_string(event.effect));
  }
  return kAccepted;
}

Refusal on(Scene scene, const AwaitingTools&, const ToolStatusLearned& event) {
  Draft& draft = scene.draft;
  const Call* call = call_of(scene, event.call);
  const CallAsking* asking = call == nullptr ? nullptr : std::get_if<CallAsking>(&call->state);
  if (asking == nullptr || asking->effect != event.effect) return late(event.kName, event.effect);
  draft.close(event.effect);
  if (const auto bound = crossed(draft.tally, draft.limits())) draft.stop_at(*bound);
  switch (event.answer) {
    case StatusAnswer::done:
      draft.end_call(call->id);
      break;
    case StatusAnswer::absent:
      if (call->attempts >= kReconciledAttemptsMax) {
        doubt(draft, *call);
      } else {
        run_call(draft, scene.instance.id, call->id, call->attempts);
      }
      break;
    case StatusAnswer::unknown:
      doubt(draft, *call);
      break;
  }
  go_on_when_all_ended(draft, scene.instance.id);
  return kAccepted;
}

Refusal on(Scene scene, const AwaitingTools&, const DoubtResolved& event) {
  Draft& draft = scene.draft;
  const Call* call = call_of(scene, event.call);
  if (call == nullptr || !std::holds_alternative<CallDoubtful>(call->state)) {
    return refuse(to_string(event.call) + " is not in doubt");
  }
  if (event.attempt != call->attempts) {
    return refuse("the verdict is about attempt " + std::to_string(event.attempt) + " at " +
                  to_string(event.call) + ", in doubt is attempt " +
                  std::to_string(call->attempts));
  }
  if (const auto bound = crossed(draft.tally, draft.limits())) draft.stop_at(*bound);
  if (event.verdict == DoubtVerdict::did_not_happen) {
    run_call(draft, scene.instance.id, call->id, call->attempts);
  } else {
    draft.end_call(call->id);
    go_on_when_all_ended(draft, scene.instance.id);
  }
  return kAccepted;
}

// An answer to the question, or the news that what was allowed is no longer: then nothing was
// started, and it is as if it had not been asked yet.
Refusal on(Scene scene, const AwaitingTools&, const CallJudged& event) {
  Draft& draft = scene.draft;
  const Call* call = call_of(scene, event.call);
  const auto* judging = call == nullptr ? nullptr : std::get_if<CallJudging>(&call->state);
  const auto* running = call == nullptr ? nullptr : std::get_if<CallRunning>(&call->state);
  const bool answers = (judging != nullptr && judging->effect == event.effect) ||
                       (running != nullptr && running->effect == event.effect);
  if (!answers) return late(event.kName, event.effect);
  // About what is to run it says that a hook has to be asked again, first.
  if (event.judgement.verdict == CallVerdict::undecided && judging != nullptr) {
    return refuse("call_judged decides nothing");
  }
  draft.close(event.effect);
  if (const auto bound = crossed(draft.tally, draft.limits())) draft.stop_at(*bound);
  const std::uint32_t made = running == nullptr ? call->attempts : call->attempts - 1;
  take_judgement(draft, scene.instance, call->id, event.judgement, made);
  go_on_when_all_ended(draft, scene.instance.id);
  return kAccepted;
}

Refusal on(Scene scene, const AwaitingTools&, const CallDecided& event) {
  Draft& draft = scene.draft;
  const Call* call = call_of(scene, event.call);
  const auto* asked = call == nullptr ? nullptr : std::get_if<CallAwaitingPerson>(&call->state);
  if (asked == nullptr) return refuse(to_string(event.call) + " waits for nobody's decision");
  if (draft.ending()) return refuse("call_decided comes too late: the run is ending");
  if (event.binding != asked->binding) {
    return refuse("the decision is about something else than " + to_string(event.call) +
                  " asks for now");
  }
  if (asked->expires_at_ms > 0 && draft.stamp.at_ms >= asked->expires_at_ms) {
    return refuse("call_decided comes too late: " + to_string(event.call) + " has expired");
  }
  if (!may_approve(draft.state, event)) {
    return refuse(event.signed_by.empty()
                      ? "an approval of this run needs the signature of an approver"
                      : event.signed_by + " has started the run; another person has to approve");
  }
  if (!fits(asked->kind, event)) {
    return refuse(std::string(name(event.decision)) + " does not answer " + to_string(event.call) +
                  ", which asks for " + std::string(name(asked->kind)));
  }
  if (const auto bound = crossed(draft.tally, draft.limits())) draft.stop_at(*bound);
  take_decision(draft, scene.instance, *call, event);
  go_on_when_all_ended(draft, scene.instance.id);
  return kAccepted;
}

}  // namespace pawl
