#include "pawl/runtime/gate_flood.h"

#include <doctest/doctest.h>

#include "pawl/runtime/approvals.h"
#include "pawl/runtime/run_stage_test.h"

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

std::size_t count_of(RunStage& stage, const std::string& word) {
  std::size_t count = 0;
  for (const StoredRecord& record : stage.records(RunId{"r"})) {
    for (std::size_t at = record.bytes.find(word); at != std::string::npos;
         at = record.bytes.find(word, at + 1)) {
      ++count;
    }
  }
  return count;
}

ScriptReply flood(int calls) {
  ScriptReply reply = ScriptReply::call("note", R"({"n":0})");
  for (int i = 1; i < calls; ++i) {
    const ScriptReply more = ScriptReply::call("note", R"({"n":)" + std::to_string(i) + "}");
    reply.calls.push_back(more.calls.front());
  }
  return reply;
}

TEST_CASE("sc-A18 a flood of questions is bounded, and none of them runs by itself") {
  for (const bool later : {false, true}) {
    RunStage stage(scripted({flood(500), ScriptReply::say("ok")}));
    const auto gate = std::make_shared<AskingGate>(stage.loop);
    gate->later = later;
    stage.gate = gate;
    stage.start("r");
    stage.loop.advance(5'000);

    CHECK(stage.tool->keys.empty());
    CHECK(count_of(stage, "approval_asked") <= kOpenApprovalsMax);
    CHECK(count_of(stage, "flood.open") > 0);
  }
}

TEST_CASE("what people have denied twice is not put before them a third time") {
  const ScriptReply same = ScriptReply::call("note", R"({"n":1})");
  const ScriptReply other = ScriptReply::call("note", R"({"n":2})");
  RunStage stage(scripted({same, same, same, other, ScriptReply::say("ok")}));
  stage.gate = std::make_shared<AskingGate>(stage.loop);
  stage.start("r");
  for (const std::uint64_t call : {1, 2}) {
    const auto event = decision_about(stage.service.show(RunId{"r"})->state, CallId{call},
                                      {InterruptDecision::reject, "ann", "no"});
    REQUIRE_MESSAGE(event, (event ? "" : event.error().message));
    stage.service.post(RunId{"r"}, *event, [](const Status& status) { CHECK(status); });
    stage.loop.advance(300);
    if (stage.service.resume(RunId{"r"})) stage.loop.advance(500);
  }
  CHECK(stage.tool->keys.empty());
  CHECK(count_of(stage, "flood.denied") == 1);
}

}  // namespace
}  // namespace pawl
