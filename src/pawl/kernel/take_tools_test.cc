// Attempts that were cut short, and what comes after they were given up.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

const std::string kTimeout = "timed out after 30 s";

TestRun calling(const std::string& tool) {
  TestRun run;
  run.replies({calls(tool)});
  return run;
}

// Times out as often as it takes until the call is told to the model or the run ends.
int timeouts_of(TestRun& run) {
  int count = 0;
  while (run.call_is<CallRunning>(kC1) && count < 100) {
    run.finishes(kC1, kTimeout, ToolEnd::timed_out);
    ++count;
  }
  return count;
}

// --- Another attempt ----------------------------------------------------------------------------

TEST_CASE("a timeout of a pure or idempotent call is tried again with the same key") {
  for (const char* tool : {"pure", "idem"}) {
    for (const ToolEnd cut : {ToolEnd::timed_out, ToolEnd::aborted}) {
      TestRun run = calling(tool);
      const std::string key = key_of(run.state(), kC1);

      run.finishes(kC1, kTimeout, cut);

      CHECK(run.decided() == Decisions{CallRetried{kC1}});
      CHECK(run.last().effects == Effects{RunTool{EffectId{3}, kRootInstance, kC1, 2}});
      CHECK(key_of(run.state(), kC1) == key);
      run.finishes(kC1, "ok");
      CHECK(run.dialogue() == "user: hello | assistant: [" + std::string(tool) + "] | c1: ok");
    }
  }
}

TEST_CASE("the attempts at a call are bounded: then the model sees the timeout") {
  for (const char* tool : {"pure", "idem"}) {
    TestRun run = calling(tool);

    CHECK(timeouts_of(run) == rules_of(kSemantics).tool_attempts_max);

    CHECK(run.started<RunTool>() == rules_of(kSemantics).tool_attempts_max);
    CHECK(run.dialogue() ==
          "user: hello | assistant: [" + std::string(tool) + "] | c1! " + kTimeout);
    CHECK(run->tally.tool_calls == 1);
  }
}

TEST_CASE("attempts that a crash cut short count among those of a call") {
  TestRun run = calling("pure");
  run.crashes();
  run.crashes();

  run.finishes(kC1, kTimeout, ToolEnd::timed_out);

  CHECK(run.dialogue() == "user: hello | assistant: [pure] | c1! " + kTimeout);
}

TEST_CASE("attempts that are made again are no tool errors, the last one is") {
  RunStarted start = a_start();
  start.guards.tool_errors = 2;
  TestRun run(start);
  run.replies({calls("pure")});

  CHECK(timeouts_of(run) == rules_of(kSemantics).tool_attempts_max);

  CHECK(!run.ending());
  CHECK(run.instance().guard.tool_errors == 1);
}

TEST_CASE("a guard that the first error trips lets attempts that are made again pass") {
  RunStarted start = a_start();
  start.guards.tool_errors = 1;
  TestRun run(start);
  run.replies({calls("pure")});

  run.finishes(kC1, kTimeout, ToolEnd::timed_out);

  CHECK(!run.ending());
  CHECK(run.call_is<CallRunning>(kC1));
  timeouts_of(run);
  CHECK(run.reason() == StopReason::tool_errors);
}

TEST_CASE("a once call that was cut short is never run again, a reconcilable one is asked about") {
  TestRun once = calling("once");
  once.finishes(kC1, "", ToolEnd::timed_out);
  CHECK(once.started<RunTool>() == 1);
  CHECK(once.call_is<CallDoubtful>(kC1));

  TestRun recon = calling("recon");
  recon.finishes(kC1, "", ToolEnd::timed_out);
  CHECK(recon.started<RunTool>() == 1);
  CHECK(recon.call_is<CallAsking>(kC1));
}

TEST_CASE("a reconcilable call that never happens is run again so often, and then in doubt") {
  RunStarted start = a_start();
  start.guards.tool_errors = 0;
  TestRun run(start);
  run.replies({calls("recon")});
  for (std::uint32_t i = 1; i <= rules_of(kSemantics).reconciled_attempts_max; ++i) {
    CHECK(run.started<RunTool>() == i);
    run.finishes(kC1, kTimeout, ToolEnd::timed_out);
    run.learns(kC1, StatusAnswer::absent);
  }
  CHECK(run.started<RunTool>() == rules_of(kSemantics).reconciled_attempts_max);
  CHECK(run.call_is<CallDoubtful>(kC1));
}

TEST_CASE("another attempt waits for the end of a pause, and so does a question") {
  TestRun run;
  run.replies({calls("idem", "1"), calls("recon", "2")});
  run.pauses();

  run.finishes(kC1, kTimeout, ToolEnd::timed_out);
  CHECK(run.decided() == Decisions{CallRetried{kC1}, CallHeld{kC1, HeldFor::run}});
  run.finishes(kC2, kTimeout, ToolEnd::timed_out);
  CHECK(run.decided() == Decisions{CallHeld{kC2, HeldFor::status}});
  CHECK(waits_for(run.state()) == WaitFor::paused);
  run.resumes();

  CHECK(run.last().effects == Effects{RunTool{EffectId{4}, kRootInstance, kC1, 2},
                                      AskStatus{EffectId{5}, kRootInstance, kC2}});
}

TEST_CASE("a run that is ending, or whose bound is crossed, makes no further attempt") {
  TestRun cancelled = calling("pure");
  cancelled.cancels();
  cancelled.finishes(kC1, "stopped", ToolEnd::aborted);
  CHECK(cancelled.started<RunTool>() == 1);
  CHECK(cancelled.call_is<CallEnded>(kC1));

  Limits limits;
  limits.time_ms = 1000;
  TestRun late(with_limits(limits));
  late.replies({calls("pure")});
  late.later(1001).finishes(kC1, kTimeout, ToolEnd::timed_out);
  CHECK(late.reason() == StopReason::time);
  CHECK(late.started<RunTool>() == 1);
}

// --- Late results -------------------------------------------------------------------------------

ResultCameLate late_of(const TestRun& run, CallId call) {
  const EffectId attempt = find_call(run.state(), call)->last_run;
  return {kRootInstance, call, attempt, ToolEnd::succeeded, Content("charged after all")};
}

TEST_CASE("what comes after the timeout is evidence: the call stays in doubt") {
  TestRun run = calling("once");
  run.finishes(kC1, "", ToolEnd::timed_out);
  const Tally before = run->tally;

  run.takes(late_of(run, kC1));

  CHECK((run.last().decisions.empty() && run.last().effects.empty()));
  CHECK(run.call_is<CallDoubtful>(kC1));
  CHECK(find_call(run.state(), kC1)->late_result == run.last().seq);
  CHECK(run->tally == before);
  CHECK(run.dialogue() == "user: hello | assistant: [once]");
  run.resolves(kC1, DoubtVerdict::happened, "charged, says the operator");
  CHECK(run.dialogue() == "user: hello | assistant: [once] | c1: charged, says the operator");
}

TEST_CASE("evidence is kept while a call is asked about, and while its run is ending") {
  TestRun asking = calling("recon");
  asking.finishes(kC1, "", ToolEnd::timed_out);
  asking.takes(late_of(asking, kC1));
  CHECK(asking.call_is<CallAsking>(kC1));

  TestRun ending = calling("once");
  ending.finishes(kC1, "", ToolEnd::timed_out);
  ending.cancels();
  ending.takes(late_of(ending, kC1));
  ending.ends();
  CHECK(find_call(ending.state(), kC1)->late_result.has_value());
}

TEST_CASE("evidence is taken once, from the attempt that was given up, about what is undecided") {
  TestRun run = calling("once");
  CHECK(run.refuses(late_of(run, kC1)) == "c1 needs no evidence from e2");
  run.finishes(kC1, "", ToolEnd::timed_out);
  ResultCameLate other = late_of(run, kC1);
  other.effect = EffectId{1};
  CHECK(run.refuses(other) == "c1 needs no evidence from e1");
  other.call = kC2;
  CHECK(run.refuses(other) == "c2 needs no evidence from e1");
  const ResultCameLate late = late_of(run, kC1);
  run.takes(late);
  CHECK(run.refuses(late) == "c1 needs no evidence from e2");

  TestRun twice;
  twice.replies({calls("once", "1"), calls("once", "2")});
  twice.finishes(kC1, "first");
  CHECK(twice.refuses(late_of(twice, kC1)) == "c1 needs no evidence from e2");
}

// --- What a run leaves behind -------------------------------------------------------------------

TEST_CASE("a run that is over still says which calls it left in doubt") {
  TestRun run;
  run.replies({calls("once", "1"), calls("pure", "2"), calls("recon", "3")});
  run.cancels();
  for (const CallId call : {kC1, kC2, kC3}) run.finishes(call, "", ToolEnd::aborted);
  run.ends();

  CHECK(calls_in_doubt(run.state()) == std::vector<CallId>{kC1, kC3});
}

}  // namespace
}  // namespace pawl::testing
