#include "pawl/kernel/rules.h"
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

CallJudgement asking_about(const std::string& what, InterruptKind kind = InterruptKind::approval) {
  CallJudgement judgement;
  judgement.verdict = CallVerdict::ask;
  judgement.stage = GateStage::rule;
  judgement.rule = "asks";
  judgement.kind = kind;
  judgement.binding = sha256(what);
  return judgement;
}

RunStarted without_guards() {
  RunStarted start = a_start();
  start.guards = {0, 0, 0};
  start.limits.steps = 1'000;
  start.limits.time_ms = 36'000'000;
  return start;
}

// What the model asks for next, and a person's no to it.
void asked_and_denied(TestRun& run, std::uint64_t call, const std::string& what,
                      InterruptKind kind = InterruptKind::approval) {
  run.replies({calls_judged("once", asking_about(what, kind))});
  CallDecided no;
  no.call = CallId{call};
  no.decision = InterruptDecision::reject;
  no.binding = sha256(what);
  no.by = "ann";
  run.takes(no);
}

std::size_t denied_by(const TestRun& run, std::string_view rule) {
  const auto all = run.decided<CallDenied>();
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const CallDenied& one) { return one.rule == rule; }));
}

TEST_CASE("so many questions are open at once, and one more is denied") {
  TestRun run(without_guards());
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < rules_of(kSemantics).open_approvals_max; ++i) {
    blocks.push_back(calls_judged("once", asking_about(std::to_string(i))));
  }
  blocks.push_back(calls_judged("once", CallJudgement{}));  // judged later
  run.replies(blocks);
  CHECK(run.decided<ApprovalAsked>().size() == rules_of(kSemantics).open_approvals_max);
  CHECK(denied_by(run, "flood.open") == 0);

  const CallId last{rules_of(kSemantics).open_approvals_max + 1};
  run.takes(CallJudged{kRootInstance, last, run.call_effect(last), asking_about("one more")});
  CHECK(run.decided<ApprovalAsked>().size() == rules_of(kSemantics).open_approvals_max);
  CHECK(denied_by(run, "flood.open") == 1);
  CHECK(run.started<RunTool>() == 0);
}

TEST_CASE("of one reply, too, only so many are asked") {
  TestRun run(without_guards());
  run.replies(std::vector<Block>(rules_of(kSemantics).open_approvals_max + 2,
                                 calls_judged("once", asking_about("it"))));
  CHECK(run.decided<ApprovalAsked>().size() == rules_of(kSemantics).open_approvals_max);
  CHECK(denied_by(run, "flood.open") == 2);
}

TEST_CASE("what people have denied twice is denied without asking, after a crash as well") {
  for (const bool crashed : {false, true}) {
    CAPTURE(crashed);
    TestRun run(without_guards());
    for (const std::uint64_t call : {1U, 2U}) asked_and_denied(run, call, "pay");
    if (crashed) run.crashes();
    run.replies({calls_judged("once", asking_about("pay"))});

    CHECK(run.decided<ApprovalAsked>().size() == rules_of(kSemantics).denials_of_same_max);
    CHECK(denied_by(run, "flood.denied") == 1);
    run.replies({calls_judged("once", asking_about("pay less"))});
    CHECK(run.decided<ApprovalAsked>().size() == rules_of(kSemantics).denials_of_same_max + 1);
  }
}

TEST_CASE("a question for an answer may be asked again") {
  TestRun run(without_guards());
  for (const std::uint64_t call : {1U, 2U, 3U}) {
    asked_and_denied(run, call, "who?", InterruptKind::input);
  }
  CHECK(run.decided<ApprovalAsked>().size() == 3);
}

TEST_CASE("the latest denials are remembered, a bounded number of them") {
  TestRun run(without_guards());
  const std::uint64_t others = kDenialsKeptMax - 1;
  for (const std::uint64_t call : {1U, 2U}) asked_and_denied(run, call, "pay");
  for (std::uint64_t i = 0; i < others; ++i) asked_and_denied(run, 3 + i, std::to_string(i));
  CHECK(run.state().denials.size() == kDenialsKeptMax);
  CHECK(run.state().denials.front() == Denial{sha256("pay"), 2});

  asked_and_denied(run, 3 + others, "one more");
  CHECK(run.state().denials.size() == kDenialsKeptMax);
  CHECK(run.state().denials.front() == Denial{sha256("0"), 1});
}

TEST_CASE("sc-A18 within an hour so many questions are asked, however fast they are answered") {
  TestRun run(without_guards());
  std::uint64_t call = 0;
  while (call < rules_of(kSemantics).questions_per_hour_max) {
    ++call;
    asked_and_denied(run, call, std::to_string(call));
    run.later(10);
  }
  run.crashes();
  run.replies({calls_judged("once", asking_about("one more"))});
  CHECK(run.decided<ApprovalAsked>().size() == rules_of(kSemantics).questions_per_hour_max);
  CHECK(denied_by(run, "flood.rate") == 1);
  CHECK(run.started<RunTool>() == 0);

  run.later(3'600'000);
  run.replies({calls_judged("once", asking_about("another hour"))});
  CHECK(run.decided<ApprovalAsked>().size() == rules_of(kSemantics).questions_per_hour_max + 1);
  CHECK(denied_by(run, "flood.rate") == 1);
}

TEST_CASE("a clock that was set back begins no hour") {
  const QuestionHour hour{5'000'000, 3};
  CHECK(hour.asked_by(5'000'000) == 3);
  CHECK(hour.asked_by(1) == 3);
  CHECK(hour.asked_by(5'000'000 + 3'599'999) == 3);
  CHECK(hour.asked_by(5'000'000 + 3'600'000) == 0);
}

}  // namespace
}  // namespace pawl::testing
