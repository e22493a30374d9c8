#include "pawl/runtime/gate_flood.h"

#include <map>
#include <optional>

#include "pawl/runtime/run_loader.h"

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

// By the digest of what was asked about.
using Denials = std::map<std::string, std::size_t>;

Result<Denials> denials_in(JournalReader& reader, const RunId& run) {
  std::map<CallId, std::string> asked;
  Denials denials;
  JournalWalker walker(reader, run);
  PAWL_CHECK(walker.walk([&](const Record& record, const Run&) {
    for (const Decision& decision : record.decisions) {
      if (const auto* one = std::get_if<ApprovalAsked>(&decision)) {
        asked[one->call] = to_hex(one->binding);
      }
      const auto* denied = std::get_if<CallDenied>(&decision);
      if (denied != nullptr && denied->stage == GateStage::person) ++denials[asked[denied->call]];
    }
    return true;
  }));
  return denials;
}

}  // namespace

void bound_questions(JournalReader& reader, const RunState& state,
                     std::vector<CallJudgement>& judgements) {
  std::size_t open = calls_awaiting_person(state).size();
  std::optional<Result<Denials>> denials;
  for (CallJudgement& judgement : judgements) {
    if (judgement.verdict != CallVerdict::ask) continue;
    if (open >= kOpenApprovalsMax) {
      judgement = refusal(judgement, "flood.open",
                          std::to_string(kOpenApprovalsMax) +
                              " calls wait for a person already; go on when they are answered");
      continue;
    }
    if (!denials) denials = denials_in(reader, state.id);
    if (!*denials) {
      judgement = refusal(judgement, "flood.unreadable",
                          "what people said before cannot be read: " + (*denials).error().message);
      continue;
    }
    const std::size_t times = judgement.binding ? (**denials)[to_hex(*judgement.binding)] : 0;
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
