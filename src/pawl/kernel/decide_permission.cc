// What follows from a judgement about a call, and from what people decide.
#include "pawl/kernel/draft.h"

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
  draft.add(std::move(asked));
}

std::size_t asked_in(const Draft& draft) {
  return static_cast<std::size_t>(std::count_if(
      draft.decisions.begin(), draft.decisions.end(),
      [](const Decision& one) { return std::holds_alternative<ApprovalAsked>(one); }));
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
  const std::size_t asked_now = asked_in(draft);
  if (calls_awaiting_person(draft.state).size() + asked_now >= kOpenApprovalsMax) {
    return CallDenied{call, asked.stage, "flood.open",
                      "denied: " + std::to_string(kOpenApprovalsMax) +
                          " calls wait for a person already; go on when they are answered"};
  }
  if (draft.state.question_hour.asked_by(draft.stamp.at_ms) + asked_now >= kQuestionsPerHourMax) {
    return CallDenied{call, asked.stage, "flood.rate",
                      "denied: people were asked " + std::to_string(kQuestionsPerHourMax) +
                          " times within an hour; go on with what nobody has to be asked for"};
  }
  const std::uint32_t times = times_denied(draft.state, asked);
  if (times < kDenialsOfSameMax) return std::nullopt;
  return CallDenied{call, asked.stage, "flood.denied",
                    "denied: people have denied exactly this " + std::to_string(times) +
                        " times; do something else"};
}

std::string rejection(const CallDecided& event) {
  const std::string* why = event.text.bytes();
  const bool said = why != nullptr && !why->empty();
  return "denied by " + event.by + (said ? ": " + *why : "; no reason was given");
}

}  // namespace

void judge_call(Draft& draft, InstanceId instance, CallId call) {
  if (draft.ending()) return;
  if (draft.pausing()) return draft.add(CallHeld{call, HeldFor::judgement});
  draft.effects.push_back(JudgeCall{draft.mint_effect(), instance, call});
}

void deny_call(Draft& draft, const Instance& instance, CallDenied denial) {
  const std::uint32_t allowed = draft.guards().tool_errors;
  std::uint32_t errors = instance.guard.tool_errors + 1;
  for (const Decision& one : draft.decisions) {
    const auto* refused = std::get_if<CallRefused>(&one);
    errors += std::holds_alternative<CallDenied>(one) || (refused != nullptr && counts(*refused));
  }
  draft.end_call(denial.call);
  draft.add(std::move(denial));
  if (allowed == 0 || errors < allowed) return;
  draft.stop(RunStatus::stopped, StopReason::tool_errors,
             "guard tool_errors: " + std::to_string(errors) + " tool errors in a row");
}

void take_judgement(Draft& draft, const Instance& instance, CallId call,
                    const CallJudgement& judgement, std::uint32_t attempts_made) {
  switch (judgement.verdict) {
    case CallVerdict::undecided:
      return judge_call(draft, instance.id, call);
    case CallVerdict::allow:
      draft.add(CallPermitted{call, judgement.stage, judgement.rule});
      return run_call(draft, instance.id, call, attempts_made);
    case CallVerdict::ask:
      if (auto denial = flood(draft, call, judgement)) {
        return deny_call(draft, instance, *std::move(denial));
      }
      return ask_person(draft, call, judgement);
    case CallVerdict::deny:
      return deny_call(draft, instance,
                       {call, judgement.stage, judgement.rule, "denied: " + judgement.reason});
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
      return run_call(draft, instance.id, call.id, call.attempts);
    case InterruptDecision::reject:
      return deny_call(draft, instance, {call.id, GateStage::person, event.by, rejection(event)});
    case InterruptDecision::input:
      return draft.end_call(call.id);
  }
}

bool expire_approvals(Draft& draft) {
  if (draft.ending()) return false;
  bool any = false;
  for (const Call& call : draft.state.calls) {
    const auto* asked = std::get_if<CallAwaitingPerson>(&call.state);
    if (asked == nullptr || asked->expires_at_ms == 0) continue;
    if (draft.stamp.at_ms < asked->expires_at_ms &&
        draft.stamp.elapsed_ms < asked->expires_elapsed_ms) {
      continue;
    }
    any = true;
    const Instance* instance = find_instance(draft.state, call.instance);
    PAWL_ASSERT(instance != nullptr);
    deny_call(draft, *instance,
              {call.id, GateStage::expiry, "", "denied: nobody answered in time"});
  }
  return any;
}

}  // namespace pawl
