#include "pawl/content.h"

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

CallJudgement asking(std::uint64_t expires_ms = 0, InterruptKind kind = InterruptKind::approval) {
  CallJudgement judgement;
  judgement.verdict = CallVerdict::ask;
  judgement.stage = GateStage::approval_policy;
  judgement.rule = "always";
  judgement.reason = "it costs money";
  judgement.kind = kind;
  judgement.binding = sha256("pay 5");
  judgement.expires_ms = expires_ms;
  return judgement;
}

CallJudgement denying() {
  CallJudgement judgement;
  judgement.verdict = CallVerdict::deny;
  judgement.stage = GateStage::allow_list;
  judgement.rule = "allow";
  judgement.reason = "not in the list; the tools are: pure";
  return judgement;
}

CallDecided decision(InterruptDecision what, const std::string& text = "") {
  CallDecided event;
  event.call = kC1;
  event.decision = what;
  event.binding = sha256("pay 5");
  event.by = "ann";
  event.text = Content(text);
  return event;
}

TEST_CASE("what is denied is not run, and the model reads why") {
  TestRun run;
  run.replies({calls_judged("once", denying()), calls("pure")});
  CHECK(run.started<RunTool>() == 1);
  run.finishes(kC2, "ok");

  CHECK(run.dialogue() ==
        "user: hello | assistant: [once] [pure] | c1! denied: not in the list; the tools are: pure "
        "| c2: ok");
  const auto refused = run.decided<CallRefused>();
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].because == RefusedBecause::denied);
  CHECK(refused[0].stage == GateStage::allow_list);
}

TEST_CASE("an approval and the start of what it approves are one record") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  CHECK(run.started<RunTool>() == 0);
  run.parks();
  CHECK(waits_for(run.state()) == WaitFor::approval);

  const Record& approved = run.takes(decision(InterruptDecision::approve));

  REQUIRE(approved.effects.size() == 1);
  CHECK(std::holds_alternative<RunTool>(approved.effects[0]));
  CHECK(find_call(run.state(), kC1)->approved == sha256("pay 5"));
  CHECK(run.refuses(decision(InterruptDecision::approve)) == "c1 is not waiting for a decision");
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("an approval expires on time also while another call of the reply runs") {
  TestRun run;
  run.replies({calls_judged("once", asking(5'000)), calls("pure")});
  REQUIRE_FALSE(is_waiting(run.state()));

  CHECK(wake_at(run.state()) == run->elapsed_ms + 5'000);
}

TEST_CASE("of a question and an approval the approval is what a run waits for") {
  TestRun run;
  run.replies({calls_judged("once", asking(0, InterruptKind::input)),
               calls_judged("once", asking(0, InterruptKind::approval))});
  run.parks();

  CHECK(waits_for(run.state()) == WaitFor::approval);
}

TEST_CASE("an approval of something else is refused") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  CallDecided other = decision(InterruptDecision::approve);
  other.binding = sha256("pay 50");

  CHECK(run.refuses(other) == "the decision is about something else than c1 asks for now");
  CHECK(run.started<RunTool>() == 0);
}

TEST_CASE("a rejection reaches the model as text, and nothing has run") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  run.takes(decision(InterruptDecision::reject, "too dear"));

  CHECK(run.started<RunTool>() == 0);
  CHECK(run.dialogue() == "user: hello | assistant: [once] | c1! denied by ann: too dear");
}

TEST_CASE("an answer is the call's result") {
  TestRun run;
  run.replies({calls_judged("once", asking(0, InterruptKind::input))});
  CHECK(waits_for(run.state()) == WaitFor::input);
  CHECK(run.refuses(decision(InterruptDecision::approve)) ==
        "approve does not answer c1, which asks for input");
  run.takes(decision(InterruptDecision::input, "42"));

  CHECK(run.started<RunTool>() == 0);
  CHECK(run.dialogue() == "user: hello | assistant: [once] | c1: 42");
}

TEST_CASE("nobody's answer is no, in this process and in the next one") {
  for (const bool crashed : {false, true}) {
    CAPTURE(crashed);
    TestRun run;
    run.replies({calls_judged("once", asking(5'000))});
    CHECK(wake_wall_at(run.state()) == run->at_ms + 5'000);
    run.later(4'999);
    CHECK(!run.ending());
    run.later(1);
    CHECK(run.refuses(decision(InterruptDecision::approve)) ==
          "call_decided comes too late: c1 has expired");
    crashed ? run.crashes() : run.ticks();

    CHECK(run.started<RunTool>() == 0);
    CHECK(run.dialogue() ==
          "user: hello | assistant: [once] | c1! denied: nobody answered in time");
  }
}

TEST_CASE("of questions that expire, the first to do so wakes the run") {
  for (const std::uint64_t first : {5'000U, 9'000U}) {
    TestRun run;
    run.replies(
        {calls_judged("once", asking(first)), calls_judged("once", asking(14'000 - first))});
    CHECK(wake_wall_at(run.state()) == run->at_ms + 5'000);
  }
}

TEST_CASE("nobody's answer is no, also where nobody drove the run meanwhile") {
  TestRun run;
  run.replies({calls_judged("once", asking(5'000))});
  run.parks();
  run.parked_for(5'000).crashes();

  CHECK(run.started<RunTool>() == 0);
  CHECK(run.decided<CallDenied>().size() == 1);
}

TEST_CASE("sc-T03: an approval that comes after 400 days runs the call") {
  constexpr std::uint64_t k400Days = 400ULL * 86'400'000;
  TestRun run;
  run.replies({calls_judged("once", asking())});
  run.parks();
  run.parked_for(k400Days);
  run.crashes();
  REQUIRE(run.call_is<CallAwaitingPerson>(kC1));
  run.takes(decision(InterruptDecision::approve));
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("what waits for a person waits through crashes, and is asked once") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  for (int i = 0; i < 20; ++i) run.crashes();

  CHECK(run.decided<ApprovalAsked>().size() == 1);
  run.takes(decision(InterruptDecision::approve));
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("what is undecided is judged first, again after a crash") {
  TestRun run;
  run.replies({calls_judged("pure", CallJudgement{})});
  CHECK(run.started<JudgeCall>() == 1);
  CHECK(run.started<RunTool>() == 0);
  run.crashes();
  CHECK(run.started<JudgeCall>() == 2);
  run.takes(CallJudged{kRootInstance, kC1, run.call_effect(kC1), CallJudgement::allowed()});
  CHECK(run.started<RunTool>() == 1);
  CHECK(run.decided<CallPermitted>().size() == 1);
}

TEST_CASE("what a hook has to see again before it runs is judged anew, and was no attempt") {
  TestRun run;
  run.replies({calls_judged("pure", CallJudgement{})});
  const EffectId judging = run.call_effect(kC1);
  CHECK(run.refuses(CallJudged{kRootInstance, kC1, judging, CallJudgement{}}) ==
        "call_judged decides nothing");
  run.takes(CallJudged{kRootInstance, kC1, judging, CallJudgement::allowed()});
  run.crashes();
  CHECK(run.started<RunTool>() == 2);
  run.takes(CallJudged{kRootInstance, kC1, run.call_effect(kC1), CallJudgement{}});

  CHECK(run.call_is<CallJudging>(kC1));
  CHECK(find_call(run.state(), kC1)->attempts == 1);
  run.takes(CallJudged{kRootInstance, kC1, run.call_effect(kC1), denying()});
  CHECK(run.started<RunTool>() == 2);
  CHECK(run.decided<CallDenied>().size() == 1);
}

TEST_CASE("what has changed since it was approved is asked again, and was no attempt") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  run.takes(decision(InterruptDecision::approve));
  CallJudgement changed = asking();
  changed.binding = sha256("pay 50");
  run.takes(CallJudged{kRootInstance, kC1, run.call_effect(kC1), changed});

  CHECK(run.call_is<CallAwaitingPerson>(kC1));
  CHECK(!find_call(run.state(), kC1)->approved);
  CHECK(find_call(run.state(), kC1)->attempts == 0);
  CHECK(run.refuses(decision(InterruptDecision::approve)) ==
        "the decision is about something else than c1 asks for now");
}

TEST_CASE("arguments that a person has edited are those that run") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  CallDecided edited = decision(InterruptDecision::approve);
  edited.edited = Content(R"({"amount":4})");
  edited.granted = sha256("pay 4");
  const std::uint64_t seq = run.takes(edited).seq;

  CHECK(find_call(run.state(), kC1)->edited == seq);
  CHECK(find_call(run.state(), kC1)->approved == sha256("pay 4"));

  // The edit goes with the approval: what is asked about next is what the model wrote.
  run.takes(CallJudged{kRootInstance, kC1, run.call_effect(kC1), asking()});
  CHECK(!find_call(run.state(), kC1)->edited);
}

TEST_CASE("only an approval comes with other arguments") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  CallDecided edited = decision(InterruptDecision::reject);
  edited.edited = Content(R"({"amount":4})");

  CHECK(run.refuses(edited).find("reject does not answer c1") != std::string::npos);
  CHECK(run.started<RunTool>() == 0);
}

TEST_CASE("where two people are needed, the one who started the run is not the other") {
  RunStarted start = a_start();
  start.started_by = "ann";
  start.approvers = Approvers::others;
  TestRun run(start);
  run.replies({calls_judged("once", asking())});
  CHECK(run.refuses(decision(InterruptDecision::approve)) ==
        "an approval of this run needs the signature of an approver");
  CallDecided other = decision(InterruptDecision::approve);
  other.by = "bob";
  CHECK(run.refuses(other) == "an approval of this run needs the signature of an approver");
  other.signed_by = "ann";
  CHECK(run.refuses(other) == "ann has started the run; another person has to approve");
  other.signed_by = "bob";
  run.takes(other);
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("where signatures are needed, everybody's who is listed counts") {
  RunStarted start = a_start();
  start.started_by = "ann";
  start.approvers = Approvers::listed;
  TestRun run(start);
  run.replies({calls_judged("once", asking())});
  CHECK(run.refuses(decision(InterruptDecision::approve)) ==
        "an approval of this run needs the signature of an approver");
  CallDecided own = decision(InterruptDecision::approve);
  own.signed_by = "ann";
  run.takes(own);
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("denials in a row stop a run as errors do") {
  RunStarted start = a_start();
  start.guards.tool_errors = 2;
  TestRun run(start);
  run.replies({calls_judged("once", asking())});
  run.takes(decision(InterruptDecision::reject));
  run.replies({calls_judged("pure", denying())});

  CHECK(run.ending());
  CHECK(run.reason() == StopReason::tool_errors);
}

TEST_CASE("denials of one instance do not count against another's guard") {
  RunStarted start = a_start();
  start.guards.tool_errors = 2;
  TestRun run(start);
  run.spawns("helper");
  run.replies({calls_judged("once", asking(1'000))});
  run.replies_as(InstanceId{2}, {calls_judged("once", asking(1'000))});

  run.later(1'000).ticks();  // nobody answered either of them

  CHECK(run.decided<CallDenied>().size() == 2);
  CHECK_FALSE(run.ending());
  CHECK(run.instance().guard.tool_errors == 1);
  CHECK(run.instance(InstanceId{2}).guard.tool_errors == 1);
}

TEST_CASE("an approval under a pause starts nothing before the resume") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  run.pauses();
  run.takes(decision(InterruptDecision::approve));
  CHECK(run.started<RunTool>() == 0);
  run.resumes();
  CHECK(run.started<RunTool>() == 1);
}

TEST_CASE("after a cancel an approval is refused") {
  TestRun run;
  run.replies({calls_judged("once", asking())});
  run.cancels();
  CHECK(run.refuses(decision(InterruptDecision::approve)) ==
        "call_decided comes too late: the run is ending");
  CHECK(run.started<RunTool>() == 0);
}

TEST_CASE("a terminal tool answers in the model's place") {
  RunStarted start = a_start();
  start.tools[0].ends_turn = EndsTurn::yes;
  TestRun run(start);
  run.replies({calls("pure"), calls("idem")});
  ToolFinished good = run.finish(kC1, "for the model");
  good.user_reply = Content("for you");
  run.takes(good);
  CHECK(!run.ending());
  run.finishes(kC2, "ok");

  CHECK(run.ending());
  CHECK(run.started<CallModel>() == 1);
  run.ends();
  CHECK(run.output() == "for you");
}

TEST_CASE("a message that came before a terminal tool's answer is answered first") {
  RunStarted start = a_start();
  start.tools[0].ends_turn = EndsTurn::yes;
  TestRun run(start);
  run.replies({calls("pure")});
  run.hears("and one more thing");
  run.finishes(kC1, "ok");
  CHECK(!run.ending());
  CHECK(run.started<CallModel>() == 2);
}

TEST_CASE("a terminal tool that fails ends nothing") {
  RunStarted start = a_start();
  start.tools[0].ends_turn = EndsTurn::yes;
  TestRun run(start);
  run.replies({calls("pure")});
  run.finishes(kC1, "no", ToolEnd::failed);

  CHECK(!run.ending());
  CHECK(run.started<CallModel>() == 2);
}

TEST_CASE("blocked input ends the run before any model is called") {
  RunStarted start = a_start();
  start.blocked = InputBlocked{"pii", "a card number"};
  TestRun run(start);

  CHECK(run.ending());
  CHECK(run.started<CallModel>() == 0);
  CHECK(run.reason() == StopReason::policy_violation);
  CHECK(std::get<Ending>(run->course).detail == "Input blocked by pii: a card number");
}

}  // namespace
}  // namespace pawl::testing
