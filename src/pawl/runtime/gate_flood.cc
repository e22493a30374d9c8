#include "pawl/runtime/gate_flood.h"

#include <optional>

namespace pawl {
namespace {

CallJudgement refusal(const CallJudgement& asked, const std::string& rule, std::string reason) {
  CallJudgement judgement;
  judgement.verdict = CallVerdict::deny;
  judgement.stage = asked.stage;
  judgement.rule = rule;
  judgement.reason = std::move(reason);
  return judgement;
}

}  // namespace

Status QuestionBounds::read_on() {
  return walker_.walk([this](const Record& record, const Run&) {
    for (const Decision& decision : record.decisions) {
      if (const auto* one = std::get_if<ApprovalAsked>(&decision)) {
        asked_[one->call] = to_hex(one->binding);
      }
      const auto* denied = std::get_if<CallDenied>(&decision);
      if (denied != nullptr && denied->stage == GateStage::person) ++denials_[asked_[denied->call]];
    }
    return true;
  });
}

void QuestionBounds::apply(const RunState& state, std::vector<CallJudgement>& judgements) {
  std::size_t open = calls_awaiting_person(state).size();
  std::optional<Status> read;
  for (CallJudgement& judgement : judgements) {
    if (judgement.verdict != CallVerdict::ask) continue;
    if (open >= kOpenApprovalsMax) {
      judgement = refusal(judgement, "flood.open",
                          std::to_string(kOpenApprovalsMax) +
                              " calls wait for a person already; go on when they are answered");
      continue;
    }
    if (!read) read = read_on();
    if (!*read) {
      judgement = refusal(judgement, "flood.unreadable",
                          "what people said before cannot be read: " + read->error().message);
      continue;
    }
    const std::size_t times = judgement.binding ? denials_[to_hex(*judgement.binding)] : 0;
    if (times >= kDenialsOfSameMax && judgement.kind != InterruptKind::input) {
      judgement = refusal(
          judgement, "flood.denied",
          "people have denied exactly this " + std::to_string(times) + " times; do something else");
      continue;
    }
    ++open;
  }
}

}  // namespace pawl
