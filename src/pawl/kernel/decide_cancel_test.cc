// Cancelling, in every phase, and the end that always comes.
#include "pawl/kernel/rules.h"
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

void check_cancelled(TestRun& run) {
  CHECK(run.reason() == StopReason::cancelled);
  run.ends();
  CHECK(run.status() == RunStatus::cancelled);
}

TEST_CASE("a cancelled run keeps its text and says who cancelled it") {
  TestRun run;
  run.replies({says("so far"), calls("pure")});
  run.finishes(kC1, "ok");

  run.takes(CancelRequested{"ann", "wrong branch"});
  run.aborts();

  CHECK(std::get<Ending>(run->course).detail == "wrong branch (by ann)");
  check_cancelled(run);
  CHECK(run.output() == "so far");
}

TEST_CASE("a message does not bring back a run whose root had answered when it was cancelled") {
  TestRun run;
  run.spawns("worker");
  const InstanceId worker{2};
  run.replies({says("my part")});
  REQUIRE(run.in<Resting>());
  run.cancels();
  run.takes(ModelAborted{worker, run.model_effect(worker), {}});
  CHECK(run.refuses(MessageReceived{kRootInstance, Content("go on"), "ann"}).find("too late") !=
        std::string::npos);
  check_cancelled(run);
}

TEST_CASE("a model call under way is aborted; whatever it reports, the run ends") {
  TestRun aborted;
  aborted.cancels();
  CHECK(aborted.last().effects == Effects{AbortEffect{EffectId{1}}});
  TestRun replied = aborted;
  TestRun failed = aborted;

  aborted.aborts();
  check_cancelled(aborted);

  replied.replies({says("too fast"), calls("once")});
  CHECK(replied.started<RunTool>() == 0);
  check_cancelled(replied);
  CHECK(replied.output() == "too fast");

  failed.fails(ErrorCategory::timeout);
  CHECK(failed.last().decisions.empty());
  check_cancelled(failed);
}

TEST_CASE("tools under way are aborted; what they did stays visible") {
  TestRun run;
  run.replies({calls("pure", "1"), calls("once", "2"), calls("recon", "3"), calls("tell", "4"),
               calls("idem", "5")});
  run.cancels();
  CHECK(run.last().effects == Effects{AbortEffect{EffectId{2}}, AbortEffect{EffectId{3}},
                                      AbortEffect{EffectId{4}}, AbortEffect{EffectId{5}},
                                      AbortEffect{EffectId{6}}});

  for (std::uint64_t i = 1; i <= 5; ++i) run.finishes(CallId{i}, "", ToolEnd::aborted);

  CHECK(run.call_is<CallEnded>(kC1));
  CHECK(run.call_is<CallDoubtful>(kC2));
  CHECK(run.call_is<CallDoubtful>(kC3));
  CHECK(run.call_is<CallEnded>(CallId{4}));
  CHECK(run.call_is<CallEnded>(CallId{5}));
  check_cancelled(run);
  CHECK(run.call_is<CallDoubtful>(kC2));
}

TEST_CASE("a status query under way is aborted; its answers start nothing") {
  for (const auto answer : {StatusAnswer::done, StatusAnswer::absent, StatusAnswer::unknown}) {
    TestRun run;
    run.replies({calls("recon")});
    run.crashes();
    run.cancels();
    CHECK(run.last().effects == Effects{AbortEffect{EffectId{3}}});

    run.learns(kC1, answer);

    CHECK(run.last().effects == Effects{EndAgent{EffectId{4}}});
    CHECK(run.call_is<CallEnded>(kC1) == (answer == StatusAnswer::done));
    CHECK(run.call_is<CallWaiting>(kC1) == (answer == StatusAnswer::absent));
    CHECK(run.call_is<CallDoubtful>(kC1) == (answer == StatusAnswer::unknown));
    check_cancelled(run);
  }
}

TEST_CASE("a run that waits, for whatever, is cancelled at once") {
  TestRun backing_off;
  backing_off.fails(ErrorCategory::timeout);

  TestRun paused;
  paused.pauses();
  paused.aborts();

  TestRun suspended;
  suspended.replies({says("hold")}, ReplyStop::suspend);
  suspended.parks();

  TestRun handed_out;
  handed_out.replies({says("you")}, ReplyStop::external);

  TestRun in_doubt;
  in_doubt.replies({calls("once")});
  in_doubt.crashes();

  TestRun held;
  held.pauses();
  held.replies({calls("once")});

  for (TestRun* run : {&backing_off, &paused, &suspended, &handed_out, &in_doubt, &held}) {
    run->cancels();
    CHECK(std::holds_alternative<EndAgent>(run->last().effects.at(0)));
    check_cancelled(*run);
  }
}

TEST_CASE("agent callbacks under way are not aborted: the run ends when they have") {
  TestRun run(with_agent_callbacks());
  run.cancels();
  CHECK(run.last().effects.empty());

  run.takes(AgentBegan{EffectId{1}, HookVerdict::proceed, {}, ""});

  CHECK(run.started<CallModel>() == 0);
  check_cancelled(run);
}

TEST_CASE("cancelling twice is no error and does nothing") {
  TestRun run;
  run.cancels();

  run.takes(CancelRequested{"bob", "me too"});

  CHECK((run.last().decisions.empty() && run.last().effects.empty()));
  CHECK(std::get<Ending>(run->course).detail == "by user");
}

TEST_CASE("the first end counts: a run that is done is not cancelled, one cancelled not done") {
  TestRun done;
  done.replies({says("done")});
  done.cancels();
  done.ends();
  CHECK(done.status() == RunStatus::done);

  TestRun cancelled;
  cancelled.cancels();
  cancelled.replies({says("done")});
  check_cancelled(cancelled);
}

TEST_CASE("a run that is over accepts nothing more") {
  TestRun run;
  run.replies({says("done")});
  const EffectId end = run.effect_of(EffectKind::end_agent);
  run.ends();

  CHECK(run.refuses(RunFinished{end, {}}) == "run_finished is not accepted while finished");
  CHECK(run.refuses(CancelRequested{"user", ""}) ==
        "cancel_requested is not accepted while finished");
  CHECK(run.refuses(DriverAttached{"p"}) == "driver_attached is not accepted while finished");
}

TEST_CASE("an effect that never reports after its abort is given up after the grace") {
  TestRun run;
  run.replies({calls("pure", "1"), calls("once", "2"), calls("recon", "3")});
  run.cancels();
  CHECK(wake_at(run.state()) == rules_of(kSemantics).ending_grace_ms);
  CHECK(run.later(rules_of(kSemantics).ending_grace_ms - 1).refuses(TimerFired{}) ==
        "timer_fired, but nothing is due");

  run.later(1).ticks();

  CHECK(run.call_is<CallWaiting>(kC1));
  CHECK(run.call_is<CallDoubtful>(kC2));
  CHECK(run.call_is<CallDoubtful>(kC3));
  CHECK(run.last().effects == Effects{EndAgent{EffectId{5}}});
  CHECK(run.refuses(run.finish(kC2, "late")) == "tool_finished comes too late: e0 is closed");
  check_cancelled(run);
}

TEST_CASE("a model call given up after the grace is charged what was reserved") {
  TestRun run;
  run.cancels();

  run.later(rules_of(kSemantics).ending_grace_ms).ticks();

  CHECK(run.decided() == Decisions{AttemptDiscarded{EffectId{1}, tokens(6, 4096)}});
  CHECK(run->tally.usage == tokens(6, 4096));
  check_cancelled(run);
}

TEST_CASE("agent callbacks that never return are given up after the grace") {
  TestRun run(with_agent_callbacks());
  run.cancels();
  run.later(rules_of(kSemantics).ending_grace_ms).ticks();
  check_cancelled(run);
}

TEST_CASE("time alone changes nothing while the end's own callbacks run") {
  TestRun run;
  run.cancels();
  run.aborts();

  CHECK(wake_at(run.state()) == std::nullopt);
  CHECK(run.later(100 * rules_of(kSemantics).ending_grace_ms).refuses(TimerFired{}) ==
        "timer_fired, but nothing is due");
}

TEST_CASE("an end that loses its process goes on in the next") {
  TestRun early;
  early.replies({calls("once", "1"), calls("pure", "2")});
  early.cancels();
  early.crashes();
  CHECK(early.last().effects == Effects{EndAgent{EffectId{4}}});
  CHECK(early.call_is<CallDoubtful>(kC1));
  check_cancelled(early);

  TestRun late;
  late.replies({says("done")});
  late.crashes();
  CHECK(late.decided() == Decisions{AttemptDiscarded{EffectId{2}, {}}});
  CHECK(late.last().effects == Effects{EndAgent{EffectId{3}}});
  CHECK(late.refuses(RunFinished{EffectId{2}, {}}) == "run_finished comes too late: e2 is closed");
  late.ends();
  CHECK(late.status() == RunStatus::done);
}

TEST_CASE("what comes too late for an ending run is refused in words") {
  TestRun run;
  run.replies({says("you")}, ReplyStop::external);
  run.cancels();
  const std::string late = " comes too late: the run is ending";
  CHECK(run.refuses(PauseRequested{"user"}) == "pause_requested" + late);
  CHECK(run.refuses(ResumeRequested{"user"}) == "resume_requested" + late);
  CHECK(run.refuses(MessageReceived{kRootInstance, Content("wait"), "user"}) ==
        "message_received" + late);
  CHECK(run.refuses(InstanceSpawned{kRootInstance, "x", {}}) == "instance_spawned" + late);
  CHECK(run.refuses(ExternalTurnPushed{kRootInstance, {}, {}, "host"}) ==
        "external_turn_pushed" + late);
  CHECK(run.refuses(RunWaiting{}) == "run_waiting comes too late: the run is ending");

  TestRun suspended;
  suspended.replies({says("hold")}, ReplyStop::suspend);
  suspended.cancels();
  CHECK(suspended.refuses(InstanceResumed{kRootInstance, "s1", "user"}) ==
        "instance_resumed" + late);
}

}  // namespace
}  // namespace pawl::testing
