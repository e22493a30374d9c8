#include <doctest/doctest.h>

#include <map>

#include "pawl/gate/approvals/approvals.h"
#include "pawl/kernel/rules.h"
#include "pawl/testing/stage/run_stage_test.h"

namespace pawl {
namespace {

// Asks about every call; the binding is that of its bytes.
class AskingGate final : public CallGate {
 public:
  struct Pending final : Operation {
    void abort() override {}
  };
  explicit AskingGate(Loop& loop) : loop_(loop) {}
  std::vector<CallJudgement> judge(const ProposedPlan& plan) override {
    std::vector<CallJudgement> all;
    for (const ProposedCall& call : plan.calls) all.push_back(judgement_of(call));
    if (later) all.assign(plan.calls.size(), CallJudgement{});
    return all;
  }
  std::unique_ptr<Operation> ask(const ProposedPlan& plan,
                                 std::function<void(CallJudgement)> done) override {
    loop_.post([done, said = judgement_of(plan.calls.front())] { done(said); });
    return std::make_unique<Pending>();
  }
  Digest binding_of(const ProposedCall& call) override { return sha256(call.input); }

  bool later = false;

 private:
  CallJudgement judgement_of(const ProposedCall& call) {
    CallJudgement judgement;
    judgement.verdict = CallVerdict::ask;
    judgement.stage = GateStage::rule;
    judgement.rule = "asks";
    judgement.binding = binding_of(call);
    return judgement;
  }
  Loop& loop_;
};

struct Counts {
  std::size_t asked = 0;
  std::map<std::string, std::size_t> denied;  // by rule
};

Counts counts_of(RunStage& stage) {
  Counts counts;
  for (const Record& record : decoded(stage.records(RunId{"r"}))) {
    for (const Decision& decision : record.decisions) {
      if (std::holds_alternative<ApprovalAsked>(decision)) ++counts.asked;
      if (const auto* one = std::get_if<CallDenied>(&decision)) ++counts.denied[one->rule];
      if (const auto* one = std::get_if<CallRefused>(&decision)) ++counts.denied[one->rule];
    }
  }
  return counts;
}

ScriptReply flood(int count) {
  std::vector<ScriptCall> calls;
  for (int i = 0; i < count; ++i) calls.push_back({"note", R"({"n":)" + std::to_string(i) + "}"});
  return ScriptReply::call_all(std::move(calls));
}

TEST_CASE("sc-A18 so many questions wait at once, and none of them runs by itself") {
  for (const bool later : {false, true}) {
    RunStage stage(
        scripted({flood(static_cast<int>(rules_of(kSemantics).open_approvals_max) + 2)}));
    const auto gate = std::make_shared<AskingGate>(stage.loop);
    gate->later = later;
    stage.gate = gate;
    stage.start("r");
    stage.loop.advance(5'000);

    const Counts counts = counts_of(stage);
    CHECK(stage.tool->keys.empty());
    CHECK(counts.asked == rules_of(kSemantics).open_approvals_max);
    CHECK(counts.denied.at("flood.open") == 2);
  }
}

TEST_CASE("sc-A18 a flood of them ends the run without asking for all of it") {
  RunStage stage(scripted({flood(100)}));
  stage.gate = std::make_shared<AskingGate>(stage.loop);
  stage.start("r");
  stage.loop.advance(5'000);

  CHECK(stage.tool->keys.empty());
  CHECK(counts_of(stage).asked <= rules_of(kSemantics).open_approvals_max);
  CHECK(stage.service.list({})->front().status == "stopped");
}

TEST_CASE("what people have denied twice is not put before them a third time") {
  const ScriptReply same = ScriptReply::call("note", R"({"n":1})");
  const ScriptReply other = ScriptReply::call("note", R"({"n":2})");
  RunStage stage(scripted({same, same, same, other, ScriptReply::say("ok")}));
  stage.gate = std::make_shared<AskingGate>(stage.loop);
  PreparedAgent agent = stage.agent();
  agent.charter.guards = {0, 0, 0};  // which would end the run before
  stage.service.start({agent, "go", RunId{"r"}, nullptr},
                      [](const Result<RunId>& accepted) { CHECK(accepted); });
  stage.loop.advance(300);
  for (const std::uint64_t call : {1U, 2U}) {
    const auto event = decision_about(stage.service.show(RunId{"r"})->state, CallId{call},
                                      {InterruptDecision::reject, "ann", "no"});
    REQUIRE_MESSAGE(event, (event ? "" : event.error().message));
    stage.service.post(RunId{"r"}, *event, [](const Status& status) { CHECK(status); });
    stage.loop.advance(300);
    if (stage.service.resume(RunId{"r"})) stage.loop.advance(500);
  }
  CHECK(stage.tool->keys.empty());
  CHECK(counts_of(stage).denied["flood.denied"] == 1);
  CHECK(counts_of(stage).asked == 3);  // twice about the same, once about the other
  CHECK(stage.service.list({})->front().status == "waiting");
}

}  // namespace
}  // namespace pawl
