// Pause and resume, in every phase.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

std::string waits(const TestRun& run) {
  return std::string(name(run.status())) + " " + std::string(name(waits_for(run.state())));
}

TEST_CASE("a model call under way is aborted by a pause, and made again by the resume") {
  TestRun run;

  run.pauses();
  CHECK(run.decided() == Decisions{PauseBegan{}});
  CHECK(run.last().effects == Effects{AbortEffect{EffectId{1}}});
  run.aborts();
  CHECK(waits(run) == "waiting paused");
  run.parks();
  run.resumes();

  CallModel again;
  again.effect = EffectId{2};
  again.step = 1;
  again.attempt = 2;
  again.position = 0;  // The aborted call has no outcome.
  again.steps_left = 49;
  again.reserved = tokens(6, 4096);
  CHECK(run.decided() == Decisions{PauseEnded{}});
  CHECK(run.last().effects == Effects{again});
  CHECK(run->tally.steps == 1);
}

TEST_CASE("a resume that comes before the abort has landed makes the call again when it does") {
  TestRun run;
  run.pauses();
  run.resumes();
  CHECK(run.last().effects.empty());

  run.aborts();

  const auto& again = std::get<CallModel>(run.last().effects.at(0));
  CHECK(again.attempt == 2);
  CHECK(again.position == 0);
  run.replies({calls("pure")});
  run.finishes(kC1, "ok");
  CHECK(std::get<CallModel>(run.last().effects.at(0)).position == 1);
}

TEST_CASE("failures before an abort count after it") {
  TestRun run;
  run.fails(ErrorCategory::timeout);
  run.later(500).ticks();
  run.pauses();
  run.resumes();

  run.aborts();

  run.fails(ErrorCategory::timeout);
  CHECK(std::get<RetryPlanned>(run.last().decisions.at(0)).failed_attempts == 2);
}

TEST_CASE("a reply that was faster than the abort counts, and its calls are held") {
  TestRun run;
  run.pauses();

  run.replies({calls("once"), calls("rm")});

  CHECK(run.last().effects.empty());
  CHECK(run.call_is<CallWaiting>(kC1));
  CHECK(waits(run) == "waiting paused");

  run.resumes();

  CHECK(run.last().effects == Effects{RunTool{EffectId{2}, kRootInstance, kC1, 1}});
}

TEST_CASE("an answer that was faster than the abort ends the run") {
  TestRun run;
  run.pauses();

  run.replies({says("done")});

  CHECK(run.reason() == StopReason::end_turn);
  CHECK(run.refuses(ResumeRequested{"user"}) ==
        "resume_requested comes too late: the run is ending");
}

TEST_CASE("a failure under a pause keeps its count, and the resume tries again at once") {
  TestRun run;
  run.fails(ErrorCategory::timeout);
  run.later(500).ticks();
  run.pauses();

  run.fails(ErrorCategory::timeout);

  CHECK(waits(run) == "waiting paused");
  CHECK(std::get<Ready>(run.instance().phase).failed_attempts == 2);
  run.resumes();
  CHECK(std::get<CallModel>(run.last().effects.at(0)).attempt == 3);
  run.fails(ErrorCategory::timeout);
  CHECK(run.decided() == Decisions{RetryPlanned{kRootInstance, 3, 2500}});
}

TEST_CASE("a failure that is never tried again ends the run under a pause too") {
  TestRun run;
  run.pauses();
  run.fails(ErrorCategory::validation_error);
  CHECK(run.reason() == StopReason::validation_error);
}

TEST_CASE("a pause while backing off stops the clock of the retry") {
  TestRun run;
  run.fails(ErrorCategory::timeout);

  run.pauses();

  CHECK(waits(run) == "waiting paused");
  CHECK(wake_at(run.state()) == std::nullopt);
  CHECK(run.later(10'000).refuses(TimerFired{}) == "timer_fired, but nothing is due");
  run.resumes();
  CHECK(std::get<CallModel>(run.last().effects.at(0)).attempt == 2);
}

TEST_CASE("tools that run under a pause may end; the next step waits for the resume") {
  TestRun run;
  run.replies({calls("once", "1"), calls("pure", "2")});

  run.pauses();
  CHECK(run.last().effects.empty());
  CHECK(waits(run) == "running ");
  run.finishes(kC2, "b");
  run.finishes(kC1, "a");

  CHECK(waits(run) == "waiting paused");
  CHECK(run.decided() == Decisions{ResultsTaken{}, InstanceReadied{}});
  run.resumes();
  CHECK(run.decided() == Decisions{PauseEnded{}, StepBegan{kRootInstance, 2}});
  CHECK(run.dialogue() == "user: hello | assistant: [once] [pure] | c1: a | c2: b");
}

TEST_CASE("a doubt resolved under a pause runs nothing before the resume") {
  TestRun run;
  run.replies({calls("once")});
  run.crashes();
  run.pauses();
  CHECK(waits(run) == "waiting in_doubt");

  run.resolves(kC1, DoubtVerdict::did_not_happen);

  CHECK(run.decided() == Decisions{CallHeld{kC1}});
  CHECK(run.last().effects.empty());
  CHECK(waits(run) == "waiting paused");
  run.resumes();
  CHECK(run.last().effects == Effects{RunTool{EffectId{3}, kRootInstance, kC1, 2}});
}

TEST_CASE("a status learned under a pause runs nothing before the resume") {
  TestRun run;
  run.replies({calls("recon")});
  run.crashes();
  run.pauses();

  run.learns(kC1, StatusAnswer::absent);

  CHECK(run.decided() == Decisions{CallHeld{kC1}});
  run.resumes();
  CHECK(run.last().effects == Effects{RunTool{EffectId{4}, kRootInstance, kC1, 2}});
}

TEST_CASE("a pause persists over processes") {
  TestRun run;
  run.pauses();
  run.aborts();
  run.parks();

  run.crashes();

  CHECK(run.last().decisions.empty());
  CHECK(run.last().effects.empty());
  CHECK(waits(run) == "waiting paused");
}

TEST_CASE("a crash while pausing restarts nothing: calls are held, the model is not called") {
  TestRun model;
  model.pauses();
  model.crashes();
  CHECK(model.decided() ==
        Decisions{AttemptDiscarded{EffectId{1}, tokens(6, 4096)}, InstanceReadied{}});
  CHECK(model.last().effects.empty());

  TestRun tools;
  tools.replies({calls("pure", "1"), calls("idem", "2"), calls("once", "3"), calls("tell", "4")});
  tools.pauses();
  tools.crashes();
  CHECK(tools.last().effects.empty());
  CHECK(tools.call_is<CallWaiting>(kC1));
  CHECK(tools.call_is<CallWaiting>(kC2));
  CHECK(tools.call_is<CallDoubtful>(kC3));
  CHECK(tools.call_is<CallEnded>(CallId{4}));
  tools.resumes();
  CHECK(tools.last().effects == Effects{RunTool{EffectId{6}, kRootInstance, kC1, 2},
                                        RunTool{EffectId{7}, kRootInstance, kC2, 2}});
}

TEST_CASE("a crash under a pause asks nothing and calls nobody before the resume") {
  TestRun run;
  run.replies({calls("recon", "1"), calls("recon", "2")});
  run.finishes(kC2, "", ToolEnd::timed_out);
  run.pauses();

  run.crashes();

  CHECK(run.last().effects.empty());
  CHECK(waits(run) == "waiting paused");
  run.parks();
  run.crashes();
  CHECK(run.last().effects.empty());
  run.resumes();
  CHECK(run.last().effects == Effects{AskStatus{EffectId{5}, kRootInstance, kC1},
                                      AskStatus{EffectId{6}, kRootInstance, kC2}});

  TestRun beginning(with_agent_callbacks());
  beginning.pauses();
  beginning.crashes();
  CHECK(beginning.last().effects.empty());
  CHECK(waits(beginning) == "waiting paused");
  beginning.resumes();
  CHECK(beginning.last().effects == Effects{BeginAgent{EffectId{2}}});
  beginning.takes(AgentBegan{EffectId{2}, HookVerdict::proceed, {}, ""});
  CHECK(beginning.in<AwaitingModel>());
}

TEST_CASE("a question that is held when the run ends is a doubt, once") {
  TestRun run;
  run.replies({calls("recon")});
  run.pauses();
  run.crashes();
  TestRun limited = run;

  run.cancels();
  CHECK(run.decided<CallInDoubt>() == std::vector<CallInDoubt>{{kC1}});
  CHECK(run.call_is<CallDoubtful>(kC1));
  run.ends();

  limited.later(1).takes(HookStopped{HookPoint::before_model, {}, "no"});
  CHECK(limited.call_is<CallDoubtful>(kC1));
}

TEST_CASE("a pause outlives an end that is withdrawn: only a resume ends it") {
  TestRun run;
  run.spawns("helper");
  run.replies_as(InstanceId{2}, {says("rests")});
  run.pauses();
  run.replies({says("faster than the abort")});
  REQUIRE(run.ending());

  run.hears("one more");

  CHECK(run.last().effects.empty());
  CHECK(std::holds_alternative<Pausing>(run->course));
  CHECK(waits(run) == "waiting paused");
  run.resumes();
  CHECK(run.in<AwaitingModel>());
  CHECK(run.dialogue() == "user: hello | assistant: faster than the abort | user: one more");
}

TEST_CASE("a message under a pause waits for the resume") {
  TestRun run;
  run.pauses();
  run.aborts();
  run.hears("one more thing");
  run.resumes();
  run.replies({calls("pure")});
  run.finishes(kC1, "ok");

  CHECK(run.dialogue() == "user: hello | assistant: [pure] | c1: ok | user: one more thing");
}

TEST_CASE("a suspended or handed-out instance stays so, and goes on after the resume only") {
  TestRun run;
  run.replies({says("hold")}, ReplyStop::suspend);
  run.pauses();

  run.takes(InstanceResumed{kRootInstance, "s1", "user"});

  CHECK(run.last().effects.empty());
  CHECK(waits(run) == "waiting paused");
  run.resumes();
  CHECK(run.in<AwaitingModel>());

  TestRun turn;
  turn.replies({says("you")}, ReplyStop::external);
  turn.pauses();
  turn.takes(ExternalTurnPushed{kRootInstance, {calls("once")}, {}, "host"});
  CHECK(turn.call_is<CallWaiting>(kC1));
}

TEST_CASE("an instance spawned under a pause waits for the resume") {
  TestRun run;
  run.pauses();
  run.spawns("helper");
  CHECK(run.last().effects.empty());
  run.aborts();

  run.resumes();

  CHECK(run.last().effects.size() == 2);
  CHECK(run.in<AwaitingModel>(InstanceId{2}));
}

TEST_CASE("agent callbacks under way may end under a pause; the first step waits") {
  TestRun run(with_agent_callbacks());
  run.pauses();
  run.resumes();
  CHECK(run.last().effects.empty());
  run.pauses();

  run.takes(AgentBegan{EffectId{1}, HookVerdict::proceed, {}, ""});

  CHECK(waits(run) == "waiting paused");
  run.resumes();
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a worker is taken up again although the agent callbacks still run") {
  TestRun run(with_agent_callbacks());
  run.spawns("helper");
  run.pauses();
  run.takes(ModelAborted{InstanceId{2}, run.model_effect(InstanceId{2}), {}});

  run.resumes();

  CHECK(run.in<AwaitingModel>(InstanceId{2}));
  CHECK(run.in<Ready>());
}

TEST_CASE("pausing and resuming twice is no error and does nothing") {
  TestRun run;
  run.resumes();
  CHECK((run.last().decisions.empty() && run.last().effects.empty()));
  run.pauses();
  run.pauses();
  CHECK((run.last().decisions.empty() && run.last().effects.empty()));
}

}  // namespace
}  // namespace pawl::testing
