// Calls before the gate, and people before calls, down to the journal.
#include <doctest/doctest.h>

#include <map>

#include "pawl/gate/approvals/approvals.h"
#include "pawl/kernel/transcript.h"
#include "pawl/testing/stage/run_stage_test.h"

namespace pawl {
namespace {

CallJudgement saying(CallVerdict verdict, std::string reason) {
  CallJudgement judgement;
  judgement.verdict = verdict;
  judgement.stage = GateStage::rule;
  judgement.rule = "r1";
  judgement.reason = std::move(reason);
  if (verdict == CallVerdict::ask) judgement.binding = sha256("here");
  return judgement;
}

class TestGate final : public CallGate {
 public:
  struct Pending final : Operation {
    void abort() override {}
  };
  explicit TestGate(Loop& loop) : loop_(loop) {}

  std::vector<CallJudgement> judge(const ProposedPlan& plan) override {
    if (throws) throw std::runtime_error("broken");
    plans.push_back(plan);
    return {plan.calls.size() - forgotten, now};
  }
  std::unique_ptr<Operation> ask(const ProposedPlan& plan,
                                 std::function<void(CallJudgement)> done) override {
    asked.push_back(plan.calls.front().input);
    loop_.post([done, answer = later] { done(answer); });
    return std::make_unique<Pending>();
  }
  Digest binding_of(const ProposedCall& call) override {
    if (moving) place += ".";
    return sha256(place == "here" ? place : place + call.input);
  }

  CallJudgement now = CallJudgement::allowed();
  CallJudgement later = CallJudgement::allowed();
  std::string place = "here";
  bool throws = false;
  bool moving = false;  // what a call is bound to is something else each time
  std::size_t forgotten = 0;
  std::vector<ProposedPlan> plans;
  std::vector<std::string> asked;

 private:
  Loop& loop_;
};

struct Gated : RunStage {
  Gated() : RunStage(scripted({ScriptReply::call("note", R"({"n":1})"), ScriptReply::say("ok")})) {
    gate = test_gate;
  }
  void decide(Decided decided) {
    const auto event = decision_about(service.show(RunId{"r"})->state, CallId{1}, decided);
    REQUIRE_MESSAGE(event, (event ? "" : event.error().message));
    service.post(RunId{"r"}, *event, [](const Status& status) { CHECK(status); });
    loop.advance(300);
    if (service.resume(RunId{"r"})) loop.advance(500);
  }
  std::string told() {
    std::string text;
    for (const Record& record : decoded(records(RunId{"r"}))) {
      for (const Decision& one : record.decisions) {
        if (const auto* denied = std::get_if<CallDenied>(&one)) text += denied->text;
        if (const auto* refused = std::get_if<CallRefused>(&one)) text += refused->text;
      }
    }
    return text;
  }

  std::shared_ptr<TestGate> test_gate = std::make_shared<TestGate>(loop);
};

TEST_CASE("what the gate denies is not run, and the model reads why") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::deny, "not today");
  stage.start("r");

  CHECK(stage.tool->keys.empty());
  CHECK(stage.told() == "denied: not today");
  REQUIRE(stage.test_gate->plans.size() == 1);
  CHECK(stage.test_gate->plans[0].calls[0].input == R"({"n":1})");
}

TEST_CASE("a gate that throws or answers for some calls only denies") {
  Gated thrown;
  thrown.test_gate->throws = true;
  thrown.start("r");
  CHECK(thrown.tool->keys.empty());
  CHECK(thrown.told() == "denied: judging it failed: broken");

  Gated silent;
  silent.test_gate->forgotten = 1;
  silent.start("r");
  CHECK(silent.tool->keys.empty());
  CHECK(silent.told() == "denied: nobody has judged it");
}

TEST_CASE("what is undecided is asked about, and runs once it is allowed") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::undecided, "");
  stage.start("r");
  CHECK(stage.tool->keys.size() == 1);

  Gated denied;
  denied.test_gate->now = saying(CallVerdict::undecided, "");
  denied.test_gate->later = saying(CallVerdict::undecided, "");
  denied.start("r");
  CHECK(denied.tool->keys.empty());
  CHECK(denied.told() == "denied: nobody has decided");
}

TEST_CASE("a call waits for its approval outside memory, and runs exactly once") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "it costs money");
  stage.start("r");
  CHECK(stage.engine.live() == 0);
  CHECK(stage.service.list({})->front().status == "waiting");

  const auto pending = pending_approvals(stage.journal, stage.service.show(RunId{"r"})->state);
  REQUIRE(pending);
  REQUIRE(pending->size() == 1);
  CHECK(pending->front().tool == "note");
  CHECK(pending->front().input == R"({"n":1})");
  CHECK(pending->front().reason == "it costs money");

  stage.decide({InterruptDecision::approve, "ann"});
  CHECK(stage.tool->keys.size() == 1);
  CHECK(stage.service.list({})->front().status == "done");
  CHECK(!decision_about(stage.service.show(RunId{"r"})->state, CallId{1},
                        {InterruptDecision::approve, "ann"}));
}

TEST_CASE("a run that waits for somebody does not go on by itself, also where that expires") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "it costs money");
  stage.test_gate->now.expires_ms = 3'600'000;
  stage.start("r");
  REQUIRE(stage.service.list({})->front().status == "waiting");

  CHECK_FALSE(stage.engine.wakes(RunId{"r"}));  // Nobody waits for it meanwhile.

  stage.loop.advance(3'700'000);
  CHECK(stage.service.list({})->front().status == "done");
  CHECK(stage.tool->keys.empty());
}

TEST_CASE("what has changed since the approval does not run, and is asked about again") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "it costs money");
  stage.start("r");
  stage.test_gate->place = "elsewhere";
  stage.decide({InterruptDecision::approve, "ann"});

  CHECK(stage.tool->keys.empty());
  const auto pending = pending_approvals(stage.journal, stage.service.show(RunId{"r"})->state);
  REQUIRE(pending->size() == 1);
  CHECK(pending->front().reason.find("has changed since it was approved") != std::string::npos);

  stage.decide({InterruptDecision::approve, "ann"});
  CHECK(stage.tool->keys.size() == 1);
}

TEST_CASE("a decision about something else than what was shown is refused") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "it costs money");
  stage.start("r");
  const RunState state = stage.service.show(RunId{"r"})->state;
  Decided decided{InterruptDecision::approve, "ann"};
  decided.shown = sha256("elsewhere");
  CHECK(decision_about(state, CallId{1}, decided).error().code == ErrorCode::conflict);
  decided.shown = sha256("here");
  CHECK(decision_about(state, CallId{1}, decided));
}

TEST_CASE("a policy that was tightened meanwhile wins over an approval") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "it costs money");
  stage.start("r");
  stage.test_gate->now = saying(CallVerdict::deny, "no more payments");
  stage.decide({InterruptDecision::approve, "ann"});

  CHECK(stage.tool->keys.empty());
  CHECK(stage.told() == "denied: no more payments");
}

TEST_CASE("edited arguments run in place of the model's, if they are arguments") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "");
  stage.start("r");
  CHECK(decision_about(stage.service.show(RunId{"r"})->state, CallId{1},
                       {InterruptDecision::approve, "ann", "", {}, "{"})
            .error()
            .code == ErrorCode::invalid_argument);
  stage.test_gate->place = "bytes of ";
  stage.decide({InterruptDecision::approve, "ann", "", {}, R"({"n":2})"});

  CHECK(stage.tool->inputs == std::vector<std::string>{R"({"n":2})"});
}

TEST_CASE("edited arguments that would do something else now are not run, and nobody is asked") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "");
  stage.start("r");
  stage.test_gate->moving = true;
  stage.decide({InterruptDecision::approve, "ann", "", {}, R"({"n":2})"});

  CHECK(stage.tool->inputs.empty());
  CHECK(stage.told().find("it was approved with other arguments") != std::string::npos);
}

TEST_CASE("what a hook has to decide is decided by it, also after an approval of something else") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "");
  stage.start("r");
  stage.test_gate->now = saying(CallVerdict::undecided, "");
  stage.test_gate->later = saying(CallVerdict::deny, "the hook says no");
  stage.test_gate->place = "elsewhere";
  stage.decide({InterruptDecision::approve, "ann"});

  CHECK(stage.tool->keys.empty());
  CHECK(stage.told() == "denied: the hook says no");
}

TEST_CASE("edited arguments that the gate denies are no decision: the question stays") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "");
  stage.start("r");
  stage.test_gate->now = saying(CallVerdict::deny, "not that much");
  stage.decide({InterruptDecision::approve, "ann", "", {}, R"({"n":2})"});

  CHECK(stage.tool->keys.empty());
  CHECK(calls_awaiting_person(stage.service.show(RunId{"r"})->state).size() == 1);
}

TEST_CASE("what a person has edited is put before scripts and hooks, too: only a denial counts") {
  for (const CallVerdict verdict :
       {CallVerdict::deny, CallVerdict::undecided, CallVerdict::ask, CallVerdict::allow}) {
    Gated stage;
    stage.test_gate->now = saying(CallVerdict::undecided, "");
    stage.test_gate->later = saying(CallVerdict::ask, "");
    stage.start("r");
    stage.test_gate->later = saying(verdict, "the script says no");
    stage.decide({InterruptDecision::approve, "ann", "", {}, R"({"n":2})"});

    const bool runs = verdict == CallVerdict::ask || verdict == CallVerdict::allow;
    CHECK(stage.test_gate->asked.back() == R"({"n":2})");
    CHECK(stage.tool->inputs.size() == (runs ? 1 : 0));
    if (verdict == CallVerdict::deny) CHECK(stage.told() == "denied: the script says no");
    CHECK(stage.service.list({})->front().status == "done");
  }
}

TEST_CASE("a rejection ends the call with the reason") {
  Gated stage;
  stage.test_gate->now = saying(CallVerdict::ask, "");
  stage.start("r");
  stage.decide({InterruptDecision::reject, "ann", "too dear"});

  CHECK(stage.tool->keys.empty());
  CHECK(stage.told() == "denied by ann: too dear");
}

}  // namespace
}  // namespace pawl
