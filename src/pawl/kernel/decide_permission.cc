// What follows from a judgement about a call, and from what people decide.
#include "pawl/kernel/decide_tree.h"

namespace pawl {
namespace {

void ask_person(Draft& draft, CallId call, const CallJudgement& judgement) {
  ApprovalAsked asked;
  asked.call = call;
  asked.kind = judgement.kind;
  if (judgement.binding) asked.binding = *judgement.binding;
  if (judgement.expires_ms > 0) {
    const std::uint64_t bounded = std::min(judgement.expires_ms, kApprovalLifeMaxMs);
    asked.expires_at_ms = draft.stamp.at_ms + static_cast<std::int64_t>(bounded);
    asked.expires_elapsed_ms = add_saturating(draft.stamp.elapsed_ms, bounded);
  }
  asked.stage = judgement.stage;
  asked.rule = judgement.rule;
  asked.reason = judgement.reason;
  asked.asked = draft.state.question_hour.asked_by(draft.stamp.at_ms) + 1;
  draft.add(std::move(asked));
}

std::uint32_t times_denied(const RunState& state, const CallJudgement& asked) {
  if (!asked.binding || asked.kind == InterruptKind::input) return 0;
  for (const Denial& one : state.denials) {
    if (one.binding == *asked.binding) return one.times;
  }
  return 0;
}

// No question where people have enough of them.
std::optional<CallDenied> flood(const Draft& draft, CallId call, const CallJudgement& asked) {
  const Sentences& say = draft.rules.say;
  const std::string denied(say.denied);
  if (calls_awaiting_person(draft.state).size() >= draft.rules.open_approvals_max) {
    return CallDenied{call, asked.stage, "flood.open",
                      denied + with_number(say.many_open, draft.rules.open_approvals_max)};
  }
  if (draft.state.question_hour.asked_by(draft.stamp.at_ms) >= draft.rules.questions_per_hour_max) {
    return CallDenied{call, asked.stage, "flood.rate",
                      denied + with_number(say.many_asked, draft.rules.questions_per_hour_max)};
  }
  const std::uint32_t times = times_denied(draft.state, asked);
  if (times < draft.rules.denials_of_same_max) return std::nullopt;
  return CallDenied{call, asked.stage, "flood.denied",
                    denied + with_number(say.many_denied, times)};
}

std::string rejection(const Sentences& say, const CallDecided& event) {
  const std::string* why = event.text.bytes();
  const bool said = why != nullptr && !why->empty();
  const std::string text = std::string(say.denied_by) + event.by;
  return said ? text + ": " + *why : text + std::string(say.no_reason);
}

}  // namespace

void judge_call(Draft& draft, const Call& call) {
  if (!draft.ending() && draft.over(call.instance)) return;
  if (!draft.going()) return draft.add(CallHeld{call.id, HeldFor::judgement});
  draft.start(JudgeCall{{}, call.instance, call.id});
}

void deny_call(Draft& draft, const Instance& instance, CallDenied denial) {
  denial.tokens = draft.rules.estimate_tokens(denial.text.size());
  draft.add(std::move(denial));
  stop_for_errors(draft, instance);
}

void stop_for_errors(Draft& draft, const Instance& instance) {
  const std::uint32_t allowed = draft.state.guards.tool_errors;
  const std::uint32_t errors = instance.guard.tool_errors;
  if (allowed == 0 || errors < allowed) return;
  fail_instance(draft, instance, RunStatus::stopped, StopReason::tool_errors,
                "guard tool_errors: " + std::to_string(errors) + " tool errors in a row");
}

void take_judgement(Draft& draft, const Instance& instance, const Call& call,
                    const CallJudgement& judgement) {
  switch (judgement.verdict) {
    case CallVerdict::undecided:
      return judge_call(draft, call);
    case CallVerdict::allow:
      draft.add(CallPermitted{call.id, judgement.stage, judgement.rule});
      return run_call(draft, call);
    case CallVerdict::ask:
      if (auto denial = flood(draft, call.id, judgement)) {
        return deny_call(draft, instance, *std::move(denial));
      }
      return ask_person(draft, call.id, judgement);
    case CallVerdict::deny:
      return deny_call(draft, instance,
                       {call.id, judgement.stage, judgement.rule,
                        std::string(draft.rules.say.denied) + judgement.reason});
  }
}

bool may_approve(const RunState& state, const CallDecided& decided) {
  if (decided.decision != InterruptDecision::approve) return true;
  switch (state.approvers) {
    case Approvers::anyone:
      return true;
    case Approvers::others:
      return !decided.signed_by.empty() && decided.signed_by != state.started_by;
    case Approvers::listed:
      break;
  }
  return !decided.signed_by.empty();
}

bool fits(InterruptKind kind, const CallDecided& decided) {
  if (decided.edited && decided.decision != InterruptDecision::approve) return false;
  if (decided.decision == InterruptDecision::reject || kind == InterruptKind::custom) return true;
  return (decided.decision == InterruptDecision::input) == (kind == InterruptKind::input);
}

// Approval and intent are one record: what was approved is started by it and by nothing else.
void take_decision(Draft& draft, const Instance& instance, const Call& call,
                   const CallDecided& event) {
  switch (event.decision) {
    case InterruptDecision::approve:
      draft.add(CallPermitted{call.id, GateStage::person, event.by});
      return run_call(draft, call);
    case InterruptDecision::reject:
      return deny_call(draft, instance,
                       {call.id, GateStage::person, event.by, rejection(draft.rules.say, event)});
    case InterruptDecision::input:
      return;  // It is the result.
  }
}

bool has_expired(const Call& call, const Stamp& stamp) {
  const auto* asked = std::get_if<CallAwaitingPerson>(&call.state);
  return asked != nullptr && asked->expires_at_ms != 0 &&
         (stamp.at_ms >= asked->expires_at_ms || stamp.elapsed_ms >= asked->expires_elapsed_ms);
}

void expire_approvals(Draft& draft) {
  if (draft.ending()) return;
  for (const Call& call : draft.state.calls) {
    if (!has_expired(call, draft.stamp)) continue;
    const Sentences& say = draft.rules.say;
    deny_call(draft, draft.instance(call.instance),
              {call.id, GateStage::expiry, "", std::string(say.denied).append(say.unanswered)});
  }
}

}  // namespace pawl
