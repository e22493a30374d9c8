// What callbacks of the host may change.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

TEST_CASE("a run with agent callbacks calls them before anything else") {
  const TestRun run(with_agent_callbacks());
  CHECK(run.decided().empty());
  CHECK(run.last().effects == Effects{BeginAgent{EffectId{1}}});
}

TEST_CASE("before_agent may let the run proceed, answer in its place, or stop it") {
  TestRun proceeding(with_agent_callbacks());
  proceeding.takes(AgentBegan{EffectId{1}, HookVerdict::proceed, {}, ""});
  CHECK(proceeding.in<AwaitingModel>());

  TestRun replacing(with_agent_callbacks());
  replacing.takes(AgentBegan{EffectId{1}, HookVerdict::replace, Content("cached"), ""});
  replacing.ends();
  CHECK(replacing.started<CallModel>() == 0);
  CHECK(replacing.status() == RunStatus::done);
  CHECK(replacing.output() == "cached");

  TestRun stopping(with_agent_callbacks());
  stopping.takes(AgentBegan{EffectId{1}, HookVerdict::stop, {}, "not today"});
  stopping.ends();
  CHECK(stopping.status() == RunStatus::stopped);
  CHECK(stopping.reason() == StopReason::callback);
  CHECK(std::get<Ending>(stopping->course).detail == "before_agent: not today");
}

TEST_CASE("after_agent may replace the output") {
  TestRun run;
  run.replies({says("raw")});

  run.takes(RunFinished{run.effect_of(EffectKind::end_agent), Content("polished")});

  CHECK(run.output() == "polished");
}

TEST_CASE("a callback that stops the run closes the model call it was asked about") {
  TestRun run;

  run.takes(HookStopped{HookPoint::before_model, EffectId{1}, "enough"});

  CHECK(run.decided() ==
        Decisions{EndingBegan{RunStatus::stopped, StopReason::callback, "before_model: enough"}});
  CHECK(run.last().effects == Effects{EndAgent{EffectId{2}}});
  run.ends();
  CHECK(run.status() == RunStatus::stopped);
}

TEST_CASE(
    "a callback that stops the run before a tool: that call never ran, the others are aborted") {
  TestRun run;
  run.replies({calls("once", "1"), calls("once", "2")});

  run.takes(HookStopped{HookPoint::before_tool, EffectId{2}, "no"});

  CHECK(run.call_is<CallWaiting>(kC1));
  CHECK(run.last().effects == Effects{AbortEffect{EffectId{3}}});
  run.finishes(kC2, "done");
  run.ends();
  CHECK(run.reason() == StopReason::callback);
}

TEST_CASE("a callback that stops the run after a tool leaves a doubt, not a call that never ran") {
  TestRun run;
  run.replies({calls("once", "1"), calls("pure", "2")});
  TestRun pure = run;

  run.takes(HookStopped{HookPoint::after_tool, EffectId{2}, "no"});
  CHECK(run.call_is<CallDoubtful>(kC1));

  pure.takes(HookStopped{HookPoint::after_tool, EffectId{3}, "no"});
  CHECK(pure.call_is<CallWaiting>(kC2));
}

TEST_CASE("a stop after the model keeps the reply and what it cost, and starts none of its calls") {
  TestRun run;
  ModelReplied reply = run.reply({says("I will charge"), calls("once")});
  reply.usage = tokens(100, 20);
  reply.callback_stop = "too rude";

  run.takes(reply);

  CHECK(run->tally.usage == tokens(100, 20));
  CHECK(run.decided<CallOpened>().empty());
  CHECK(run.started<RunTool>() == 0);
  CHECK(run.last().effects == Effects{EndAgent{EffectId{2}}});
  CHECK(std::get<Ending>(run->course).detail == "after_model: too rude");
  run.crashes();
  CHECK(run.started<RunTool>() == 0);
  run.ends();
  CHECK(run.status() == RunStatus::stopped);
  CHECK(run.reason() == StopReason::callback);
  CHECK(run.output() == "I will charge");
}

TEST_CASE("a stop after a tool keeps its result, in one record") {
  TestRun run;
  run.replies({calls("once", "1"), calls("pure", "2")});
  ToolFinished result = run.finish(kC1, "charged");
  result.callback_stop = "enough";

  run.takes(result);

  CHECK(run.call_is<CallEnded>(kC1));
  CHECK(run.last().effects == Effects{AbortEffect{EffectId{3}}});
  CHECK(std::get<Ending>(run->course).detail == "after_tool: enough");
  run.finishes(kC2, "", ToolEnd::aborted);
  run.ends();
  CHECK(run.reason() == StopReason::callback);
  CHECK(calls_in_doubt(run.state()).empty());
}

TEST_CASE("a stop after a tool that was cut short leaves a doubt and makes no further attempt") {
  TestRun run;
  run.replies({calls("once", "1"), calls("pure", "2")});
  for (const CallId call : {kC1, kC2}) {
    ToolFinished result = run.finish(call, "", ToolEnd::timed_out);
    result.callback_stop = "enough";
    run.takes(result);
  }
  CHECK(run.started<RunTool>() == 2);
  CHECK(run.call_is<CallDoubtful>(kC1));
  CHECK(run.call_is<CallEnded>(kC2));
}

TEST_CASE("a callback that stops the run closes no effect that it was not asked about") {
  TestRun asking;
  asking.replies({calls("recon")});
  asking.crashes();
  asking.takes(HookStopped{HookPoint::before_tool, EffectId{3}, "no"});
  CHECK(asking.call_is<CallAsking>(kC1));
  CHECK(asking.last().effects == Effects{AbortEffect{EffectId{3}}});

  TestRun ending;
  ending.replies({says("done")});
  ending.takes(HookStopped{HookPoint::after_agent, EffectId{2}, "no"});
  CHECK(ending.last().effects.empty());
  ending.ends();
  CHECK(ending.status() == RunStatus::done);
}

TEST_CASE("a callback may stop a run with nothing under way, and one that is ending already") {
  TestRun run;
  run.fails(ErrorCategory::timeout);
  run.takes(HookStopped{HookPoint::after_model, {}, "give up"});
  CHECK(run.reason() == StopReason::callback);

  run.takes(HookStopped{HookPoint::after_model, {}, "again"});
  CHECK((run.last().decisions.empty() && run.last().effects.empty()));
}

TEST_CASE("a callback that throws is on record and changes nothing") {
  TestRun run;
  run.replies({calls("once")});
  RunState before = run.state();

  run.takes(HookFailed{HookPoint::after_tool, "std::bad_alloc"});

  CHECK((run.last().decisions.empty() && run.last().effects.empty()));
  before.length = run->length;
  CHECK(before == run.state());
}

}  // namespace
}  // namespace pawl::testing
