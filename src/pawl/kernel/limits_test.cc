// Every bound: at it, and crossed by one.
#include "pawl/limits.h"

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

// A run that is over its bound makes no effect but its own end, and keeps what it wrote.
void check_stopped(const TestRun& run, StopReason reason, const std::string& detail) {
  CHECK(run.ending());
  CHECK(run.reason() == reason);
  CHECK(std::get<Ending>(run->course).status == RunStatus::stopped);
  CHECK(std::get<Ending>(run->course).detail == detail);
  for (const Effect& effect : run.last().effects) {
    const bool harmless =
        std::holds_alternative<AbortEffect>(effect) || std::holds_alternative<EndAgent>(effect);
    CHECK_MESSAGE(harmless, shown(effect));
  }
}

void check_over(TestRun run, const std::string& output) {
  run.ends();
  CHECK(run.status() == RunStatus::stopped);
  CHECK(run.output() == output);
}

TEST_CASE("the defaults are as documented") {
  const Limits limits;
  CHECK(shown(limits) ==
        "limits{steps=50, model_calls=10000, tool_calls=10000, time_ms=3600000, tokens=10000000, "
        "bytes_in=67108864, bytes_out=16777216, branches=10, cost_pico=0, ask_cost_pico=0, "
        "budget_tokens=0, budget_ms=0}");
  CHECK(shown(Guards{}) == "guards{identical_calls=3, identical_steps=3, tool_errors=3}");
}

TEST_CASE("steps: the last one may answer, but calls no tool") {
  Limits limits;
  limits.steps = 2;
  TestRun run(with_limits(limits));
  run.replies({says("one"), calls("pure")});
  run.finishes(kC1, "ok");
  REQUIRE(!run.ending());
  TestRun answering = run;

  answering.replies({says("two")});
  CHECK(answering.reason() == StopReason::end_turn);

  run.replies({says("two"), calls("once")});
  check_stopped(run, StopReason::steps, "limit steps: 2 of 2");
  CHECK(run.started<RunTool>() == 1);
  check_over(run, "two");
}

TEST_CASE("model_calls: attempts count, and there is never one more") {
  Limits limits;
  limits.model_calls = 2;
  TestRun run(with_limits(limits));
  run.fails(ErrorCategory::network_error);
  run.later(500).ticks();
  REQUIRE(!run.ending());
  TestRun answering = run;

  answering.replies({says("just in time")});
  CHECK(answering.reason() == StopReason::end_turn);

  run.replies({says("thinking"), calls("pure")});
  run.finishes(kC1, "ok");
  check_stopped(run, StopReason::model_calls, "limit model_calls: 2 of 2");
  CHECK(run.started<CallModel>() == 2);
  check_over(run, "thinking");
}

TEST_CASE("model_calls: a retry beyond the bound is not made") {
  Limits limits;
  limits.model_calls = 1;
  TestRun run(with_limits(limits));
  run.fails(ErrorCategory::network_error);

  run.later(500).ticks();

  check_stopped(run, StopReason::model_calls, "limit model_calls: 1 of 1");
  check_over(run, "(none)");
}

TEST_CASE("tool_calls: a reply that asks for one too many runs none of them") {
  Limits limits;
  limits.tool_calls = 3;
  TestRun run(with_limits(limits));
  run.replies({calls("pure", "1")});
  run.finishes(kC1, "ok");
  TestRun fitting = run;

  fitting.replies({calls("once", "2"), calls("once", "3")});
  CHECK(!fitting.ending());
  CHECK(fitting->tally.tool_calls == 3);

  run.replies({says("so"), calls("once", "2"), calls("once", "3"), calls("once", "4")});
  check_stopped(run, StopReason::tool_calls, "limit tool_calls: 1 of 3, and more were asked for");
  CHECK(run.started<RunTool>() == 1);
  check_over(run, "so");
}

TEST_CASE("tool_calls: calls that were cut off and never run are not counted") {
  Limits limits;
  limits.tool_calls = 1;
  TestRun run(with_limits(limits));

  run.replies({calls("pure", "1"), calls("pure", "2")}, ReplyStop::max_tokens);

  CHECK(run->tally.tool_calls == 0);
  run.replies({calls("pure", "1")});
  CHECK(!run.ending());
}

TEST_CASE("time: stops when it is used up, in the middle of whatever is under way") {
  Limits limits;
  limits.time_ms = 1000;
  TestRun run(with_limits(limits));
  run.replies({says("wait"), calls("pure")});
  CHECK(wake_at(run.state()) == 1000);

  CHECK(run.later(999).refuses(TimerFired{}) == "timer_fired, but nothing is due");
  run.later(1).ticks();

  check_stopped(run, StopReason::time, "limit time: 1000 of 1000 ms");
  CHECK(run.last().effects == Effects{AbortEffect{EffectId{2}}});
  run.finishes(kC1, "", ToolEnd::aborted);
  check_over(run, "wait");
}

TEST_CASE("time: a reply or result that comes after it is kept, and leads to nothing") {
  Limits limits;
  limits.time_ms = 1000;
  TestRun exact(with_limits(limits));
  exact.later(1000).replies({says("in time"), calls("pure")});
  CHECK(!exact.ending());

  TestRun run(with_limits(limits));
  run.later(1001).replies({says("too late"), calls("pure")});

  check_stopped(run, StopReason::time, "limit time: 1001 of 1000 ms");
  check_over(run, "too late");
}

TEST_CASE("time: no further step begins when it is used up exactly") {
  Limits limits;
  limits.time_ms = 1000;
  TestRun run(with_limits(limits));
  run.replies({calls("pure")});

  run.later(1000).finishes(kC1, "ok");

  check_stopped(run, StopReason::time, "limit time: 1000 of 1000 ms");
}

TEST_CASE("time: waiting does not count") {
  Limits limits;
  limits.time_ms = 1000;
  TestRun run(with_limits(limits));
  run.later(400).pauses();
  run.later(100).aborts();
  REQUIRE(run.status() == RunStatus::waiting);
  CHECK(wake_at(run.state()) == std::nullopt);
  run.parks();

  run.later(400ULL * 24 * 3600 * 1000).resumes();  // Four hundred days.

  CHECK(run->tally.active_ms == 500);
  CHECK(wake_at(run.state()) == run->elapsed_ms + 500);
  run.later(500).replies({says("ok")});
  CHECK(run.reason() == StopReason::end_turn);
}

TEST_CASE("tokens: at the bound no further call is made, and over it no tool runs") {
  Limits limits;
  limits.tokens = 100;
  TestRun run(with_limits(limits));
  ModelReplied reply = run.reply({says("so far"), calls("once")});
  TestRun over = run;

  reply.usage = {40, 30, 20, 10};
  run.takes(reply);
  CHECK(!run.ending());
  run.finishes(kC1, "ok");
  check_stopped(run, StopReason::tokens, "limit tokens: 100 of 100");
  check_over(run, "so far");

  reply.usage.output_tokens = 31;
  over.takes(reply);
  check_stopped(over, StopReason::tokens, "limit tokens: 101 of 100");
  CHECK(over.started<RunTool>() == 0);
  check_over(over, "so far");
}

TEST_CASE("tokens: failed attempts count, and at the bound there is no retry") {
  Limits limits;
  limits.tokens = 100;
  TestRun run(with_limits(limits));
  ModelFailed failure{kRootInstance, EffectId{1}, ErrorCategory::timeout, "slow", {}, tokens(100)};
  TestRun over = run;

  run.takes(failure);
  run.later(500).ticks();
  check_stopped(run, StopReason::tokens, "limit tokens: 100 of 100");

  failure.usage = tokens(101);
  over.takes(failure);
  check_stopped(over, StopReason::tokens, "limit tokens: 101 of 100");
}

TEST_CASE("bytes_in: input, messages and results count") {
  Limits limits;
  limits.bytes_in = 5 + 3 + 4;
  TestRun run(with_limits(limits));
  run.hears("abc");
  run.replies({says("partial"), calls("pure", "1"), calls("once", "2")});
  run.finishes(kC1, "four");
  CHECK(!run.ending());

  run.finishes(kC2, "1");

  check_stopped(run, StopReason::bytes_in, "limit bytes_in: 13 of 12");
  CHECK(run.started<CallModel>() == 1);
  check_over(run, "partial");
}

TEST_CASE("bytes_in: an input that is too large never reaches a model") {
  Limits limits;
  limits.bytes_in = 4;

  const TestRun run(with_limits(limits));

  check_stopped(run, StopReason::bytes_in, "limit bytes_in: 5 of 4");
}

TEST_CASE("bytes_out: what the model wrote counts, text and arguments alike") {
  Limits limits;
  limits.bytes_out = 10;
  TestRun run(with_limits(limits));
  run.replies({says("12345"), calls("pure", "67890")});
  CHECK(!run.ending());
  run.finishes(kC1, "ok");

  run.replies({says("x"), calls("once", "")});

  check_stopped(run, StopReason::bytes_out, "limit bytes_out: 11 of 10");
  CHECK(run.started<RunTool>() == 1);
  check_over(run, "x");
}

TEST_CASE("branches: one too many ends the run, and is not born") {
  Limits limits;
  limits.branches = 2;
  TestRun run(with_limits(limits));
  run.spawns("a");
  run.spawns("b");
  CHECK(!run.ending());

  run.spawns("c");

  check_stopped(run, StopReason::branches, "limit branches: 3 of 2");
  CHECK(run->instances.size() == 3);
}

TEST_CASE("a bound crossed by an answer about a call keeps that call from running again") {
  Limits limits;
  limits.time_ms = 1000;
  TestRun run(with_limits(limits));
  run.replies({calls("recon"), calls("once")});
  run.crashes();
  REQUIRE(run.call_is<CallAsking>(kC1));
  REQUIRE(run.call_is<CallDoubtful>(kC2));
  TestRun resolved = run;

  run.later(1001).learns(kC1, StatusAnswer::absent);
  check_stopped(run, StopReason::time, "limit time: 1001 of 1000 ms");

  resolved.later(1001).resolves(kC2, DoubtVerdict::did_not_happen);
  check_stopped(resolved, StopReason::time, "limit time: 1001 of 1000 ms");
}

TEST_CASE("a bound of nothing lets nothing happen") {
  Limits limits;
  limits.steps = 0;

  TestRun run(with_limits(limits));

  check_stopped(run, StopReason::steps, "limit steps: 0 of 0");
  check_over(run, "(none)");
}

}  // namespace
}  // namespace pawl::testing
