// The life of a run: model calls, steps, tool calls, the end.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

TEST_CASE("a started run makes one model call and nothing else") {
  const TestRun run;

  CHECK(run.decided() == Decisions{StepBegan{kRootInstance, 1}});
  CallModel call;
  call.effect = EffectId{1};
  call.step = 1;
  call.steps_left = 49;
  call.reserved = tokens(6, 4096);
  CHECK(run.last().effects == Effects{call});
  CHECK(run.status() == RunStatus::running);
}

TEST_CASE("an answer ends the turn, the agent and the run, in this order") {
  TestRun run;

  run.replies({says("hi")});

  const StepEnded ended = run.decided<StepEnded>().at(0);
  CHECK(run.decided() ==
        Decisions{StepEnded{kRootInstance, 1, YieldReason::end_turn, ended.fingerprint},
                  InstanceRested{}, EndingBegan{RunStatus::done, StopReason::end_turn, ""}});
  CHECK(run.last().effects == Effects{EndAgent{EffectId{2}}});
  CHECK(run.status() == RunStatus::running);

  run.ends();

  CHECK(run.last().decisions.empty());
  CHECK(run.last().effects.empty());
  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "hi");
}

TEST_CASE("a tool call is run, its result joins the transcript, and the next step begins") {
  TestRun run;

  run.replies({says("let me see"), calls("pure", R"({"q":1})")});

  CHECK(run.in<AwaitingTools>());
  CHECK(run.last().effects == Effects{RunTool{EffectId{2}, kRootInstance, kC1, 1}});

  run.finishes(kC1, "42");

  CHECK(run.decided() == Decisions{ResultsTaken{}, StepBegan{kRootInstance, 2}});
  CHECK(run.dialogue() == "user: hello | assistant: let me see [pure] | c1: 42");
  CHECK(run->calls.empty());
}

TEST_CASE("parallel calls that finish out of order are paired by number and read in order") {
  TestRun run;
  run.replies({calls("pure", "1"), calls("once", "2"), calls("idem", "3")});

  run.finishes(kC3, "third");
  run.finishes(kC1, "first");

  CHECK(run.in<AwaitingTools>());
  CHECK(run.started<CallModel>() == 1);

  run.finishes(kC2, "second");

  CHECK(run.dialogue() ==
        "user: hello | assistant: [pure] [once] [idem] | c1: first | c2: second | c3: third");
  CHECK(run.started<CallModel>() == 2);
}

TEST_CASE("calls of later replies have new numbers, whatever ids the provider gives") {
  TestRun run;
  CallBlock reused{"pure", Content("1"), "toolu_1", ""};
  reused.judgement = CallJudgement::allowed();
  run.replies({reused});
  run.finishes(kC1, "first");
  reused.input = Content("2");

  run.replies({reused});

  CHECK(run.last().effects == Effects{RunTool{EffectId{4}, kRootInstance, kC2, 1}});
  CHECK(run.refuses(run.finish(kC1, "again")) == "tool_finished comes too late: e0 is closed");
}

TEST_CASE("n model calls are n steps") {
  TestRun run;

  for (int i = 1; i <= 10; ++i) {
    run.replies({calls("pure", std::to_string(i))});
    run.finishes(CallId{static_cast<std::uint64_t>(i)}, std::to_string(i));
  }
  run.replies({says("done")});

  CHECK(run->tally.steps == 11);
  CHECK(run->tally.model_calls == 11);
  CHECK(run.started<CallModel>() == 11);
  CHECK(run.decided<StepBegan>().size() == 11);
  CHECK(run.decided<StepEnded>().size() == 11);
}

TEST_CASE("retries are attempts of one step, and the step's position counts the outcomes") {
  TestRun run;

  run.fails(ErrorCategory::network_error);
  run.later(500).ticks();
  run.fails(ErrorCategory::timeout);
  run.later(1000).ticks();

  CHECK(run->tally.steps == 1);
  CHECK(run->tally.model_calls == 3);
  const auto& third = std::get<CallModel>(run.last().effects.at(0));
  CHECK(third.step == 1);
  CHECK(third.attempt == 3);
  CHECK(third.position == 2);

  run.replies({calls("pure")});
  run.finishes(kC1, "ok");

  const auto& next = std::get<CallModel>(run.last().effects.at(0));
  CHECK(next.step == 2);
  CHECK(next.attempt == 1);
  CHECK(next.position == 3);
}

TEST_CASE("what was used is counted once, with its cost") {
  RunStarted start = a_start();
  start.prices.input = 3;
  start.prices.output = 15;
  TestRun run(start);
  ModelReplied reply = run.reply({says("four"), calls("pure", "12")});
  reply.usage = tokens(10, 2);

  run.later(70).takes(reply);
  run.later(30).finishes(kC1, "result");

  Tally tally;
  tally.steps = 2;
  tally.model_calls = 2;
  tally.tool_calls = 1;
  tally.active_ms = 100;
  tally.usage = tokens(10, 2);
  tally.cost_pico = 60;
  tally.bytes_in = 5 + 6;
  tally.bytes_out = 4 + 2;
  CHECK(run->tally == tally);
}

TEST_CASE("history comes before the input, in order") {
  RunStarted start = a_start();
  start.history = {{Speaker::user, Content("one")}, {Speaker::assistant, Content("two")}};

  const TestRun run(start);

  CHECK(run.dialogue() == "user: one | assistant: two | user: hello");
}

TEST_CASE("a reply, a failure and a result of a closed effect are late, and change nothing") {
  TestRun run;
  const ModelReplied first = run.reply({calls("pure")});
  run.takes(first);
  run.finishes(kC1, "ok");

  CHECK(run.refuses(first) == "model_replied comes too late: e1 is closed");
  CHECK(run.refuses(ModelFailed{kRootInstance, EffectId{1}, ErrorCategory::timeout, "", {}, {}}) ==
        "model_failed comes too late: e1 is closed");
  CHECK(run.refuses(ModelAborted{kRootInstance, EffectId{1}, {}}) ==
        "model_aborted comes too late: e1 is closed");
}

TEST_CASE("a run of another semantics is not started") {
  Run run;
  RunStarted start = a_start();
  start.semantics = kSemantics + 1;

  const auto record = advance(run, start, {});

  REQUIRE(!record);
  CHECK(record.error().message ==
        "semantics 2 is not known to this version of Pawl, which knows 1 to 1");
  CHECK(run == Run{});
}

TEST_CASE("a clock that went backwards, or an older epoch, is an error and no bug") {
  Run run;
  REQUIRE(advance(run, a_start(), {2, 0, 1000}));
  const std::string before = encode_snapshot(run);

  const auto earlier = advance(run, PauseRequested{"user"}, {2, 0, 999});
  const auto older = advance(run, PauseRequested{"user"}, {1, 0, 1000});

  REQUIRE(!earlier);
  CHECK(earlier.error().code == ErrorCode::invalid_argument);
  REQUIRE(!older);
  CHECK(older.error().code == ErrorCode::conflict);
  CHECK(encode_snapshot(run) == before);
}

TEST_CASE("wall time may jump without consequence") {
  Run run;
  REQUIRE(advance(run, a_start(), {1, 1'700'000'000'000, 0}));

  const auto record = advance(run, PauseRequested{"user"}, {1, -1, 10});

  REQUIRE(record);
  CHECK(run->tally.active_ms == 10);
}

}  // namespace
}  // namespace pawl::testing
