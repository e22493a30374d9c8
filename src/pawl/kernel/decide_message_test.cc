// Messages to a run, in every phase.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

TEST_CASE("a message joins the transcript when the next step begins, not before") {
  TestRun run;
  run.hears("also do b");
  CHECK(run.last().effects.empty());
  run.replies({calls("pure")});
  run.hears("and c");
  CHECK(run.dialogue() == "user: hello | assistant: [pure]");

  run.finishes(kC1, "ok");

  CHECK(run.decided() == Decisions{ResultsTaken{}, MessagesDelivered{kRootInstance, 2},
                                   StepBegan{kRootInstance, 2}});
  CHECK(run.dialogue() ==
        "user: hello | assistant: [pure] | c1: ok | user: also do b | user: and c");
}

TEST_CASE("a message that waits when the turn ends gets a turn of its own") {
  TestRun run;
  run.hears("wait");

  run.replies({says("done?")});

  CHECK(!run.ending());
  CHECK(run.dialogue() == "user: hello | assistant: done? | user: wait");
}

TEST_CASE("a message waits out a retry, and is not part of the step that is tried again") {
  TestRun run;
  run.fails(ErrorCategory::timeout);
  run.hears("hurry");
  CHECK(run.in<BackingOff>());
  run.later(500).ticks();
  CHECK(run.dialogue() == "user: hello");

  run.replies({says("ok")});

  CHECK(run.dialogue() == "user: hello | assistant: ok | user: hurry");
}

TEST_CASE("a message wakes an instance that rests") {
  TestRun run;
  run.spawns("helper");
  run.replies({says("I rest")});

  run.hears("more");

  CHECK(run.decided() ==
        Decisions{MessagesDelivered{kRootInstance, 1}, StepBegan{kRootInstance, 3}});
}

TEST_CASE("a message goes to the instance that it names") {
  TestRun run;
  run.spawns("helper");

  run.takes(MessageReceived{InstanceId{2}, Content("psst"), "user"});
  run.replies_as(InstanceId{2}, {says("yes?")});

  CHECK(run.dialogue(InstanceId{2}) == "user: task | assistant: yes? | user: psst");
  CHECK(run.refuses(MessageReceived{InstanceId{5}, Content("x"), "user"}) ==
        "message_received: there is no instance i5");
}

TEST_CASE("a message while a finished run is wound up reopens it") {
  TestRun run;
  run.replies({says("done")});

  run.hears("one more");

  CHECK(run.decided() == Decisions{AttemptDiscarded{EffectId{2}, {}}, EndingWithdrawn{},
                                   MessagesDelivered{kRootInstance, 1},
                                   StepBegan{kRootInstance, 2}});
  CHECK(run.refuses(RunFinished{EffectId{2}, {}}) == "run_finished is not accepted while going");
  run.replies({says("really done")});
  run.ends();
  CHECK(run.status() == RunStatus::done);
  CHECK(run.output() == "really done");
}

TEST_CASE("a message does not reopen a run that was stopped, failed or cancelled") {
  const MessageReceived message{kRootInstance, Content("but"), "user"};
  TestRun cancelled;
  cancelled.cancels();
  cancelled.aborts();
  CHECK(cancelled.refuses(message) == "message_received comes too late: the run is ending");

  TestRun failed;
  failed.fails(ErrorCategory::quota_exceeded);
  CHECK(failed.refuses(message) == "message_received comes too late: the run is ending");
}

TEST_CASE("a reopened run takes up its workers again") {
  TestRun run(with_agent_callbacks());
  run.spawns("helper");
  run.takes(AgentBegan{EffectId{1}, HookVerdict::replace, Content("cached"), ""});
  run.takes(ModelAborted{InstanceId{2}, run.model_effect(InstanceId{2}), {}});
  REQUIRE(run.effect_of(EffectKind::end_agent) != EffectId{});

  run.hears("not good enough");

  CHECK(run.in<AwaitingModel>());
  CHECK(run.in<AwaitingModel>(InstanceId{2}));
}

TEST_CASE("what a worker asked for while the run was ending is answered: it may go on") {
  TestRun run;
  run.spawns("helper");
  run.replies({says("done")}, ReplyStop::cede);
  run.replies_as(InstanceId{2}, {calls("once")});

  run.hears("wait");

  CHECK(run.in<AwaitingModel>(InstanceId{2}));
  CHECK(run.started<RunTool>() == 0);
  CHECK(run.dialogue(InstanceId{2}) ==
        "user: task | assistant: [once] | c1! not run: the run was about to end; ask again");
}

TEST_CASE("a message to a done run that has no room to answer is refused: it stays done") {
  const std::string refusal =
      "message_received comes too late: the run is done, and a limit leaves no room to answer";
  const MessageReceived message{kRootInstance, Content("more"), "user"};
  Limits steps;
  steps.steps = 1;
  Limits bytes;
  bytes.bytes_in = 6;
  Limits time;
  time.time_ms = 10;
  for (const Limits& limits : {steps, bytes, time}) {
    TestRun run(with_limits(limits));
    run.replies({says("done")});

    CHECK(run.later(10).refuses(message) == refusal);

    run.ends();
    CHECK(run.status() == RunStatus::done);
    CHECK(run.output() == "done");
  }
}

TEST_CASE("a done run whose workers would use up the room is not reopened either") {
  Limits limits;
  limits.steps = 2;
  RunStarted start = with_agent_callbacks();
  start.limits = limits;
  TestRun run(start);
  run.spawns("helper");
  run.replies_as(InstanceId{2}, {calls("pure")});
  run.takes(AgentBegan{EffectId{1}, HookVerdict::replace, Content("cached"), ""});
  run.takes([&] {
    ToolFinished finished = run.finish(kC1, "ok");
    finished.instance = InstanceId{2};
    return finished;
  }());

  CHECK(run.refuses(MessageReceived{kRootInstance, Content("more"), "user"}) ==
        "message_received comes too late: the run is done, and a limit leaves no room to answer");

  run.ends();
  CHECK(run.status() == RunStatus::done);
}

TEST_CASE("a message that waits when its instance cedes is answered before anything is given up") {
  TestRun root;
  root.hears("wait");
  root.replies({says("bye"), calls("pure")}, ReplyStop::cede);
  CHECK(!root.ending());
  CHECK(root.dialogue() ==
        "user: hello | assistant: bye [pure] | c1! not run: the same reply gave control away; ask "
        "again | user: wait");
  root.replies({says("now bye")}, ReplyStop::cede);
  root.ends();
  CHECK(root.reason() == StopReason::cede);

  TestRun worker;
  worker.spawns("helper");
  worker.takes(MessageReceived{InstanceId{2}, Content("psst"), "user"});
  worker.replies_as(InstanceId{2}, {says("bye")}, ReplyStop::cede);
  CHECK(worker.dialogue(InstanceId{2}) == "user: task | assistant: bye | user: psst");
}

TEST_CASE("a message while a root that ceded is wound up reopens it") {
  TestRun run;
  run.replies({says("bye")}, ReplyStop::cede);
  run.hears("one more");
  CHECK(run.dialogue() == "user: hello | assistant: bye | user: one more");
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a message that waits when before_agent answers is answered by the model") {
  TestRun run(with_agent_callbacks());
  run.hears("and b?");

  run.takes(AgentBegan{EffectId{1}, HookVerdict::replace, Content("cached"), ""});

  CHECK(!run.ending());
  CHECK(run.output() == "cached");
  CHECK(run.dialogue() == "user: hello | assistant: cached | user: and b?");
  run.replies({says("b too")});
  run.ends();
  CHECK(run.output() == "b too");
}

TEST_CASE("a message that is too large ends the run instead of reaching the model") {
  Limits limits;
  limits.bytes_in = 10;
  TestRun run(with_limits(limits));

  run.hears("123456");

  CHECK(run.reason() == StopReason::bytes_in);
  CHECK(run.last().effects == Effects{AbortEffect{EffectId{1}}});
}

TEST_CASE("messages wait for a suspended run and for a turn given away") {
  TestRun suspended;
  suspended.replies({says("hold")}, ReplyStop::suspend);
  suspended.hears("a");
  CHECK(suspended.status() == RunStatus::waiting);

  TestRun turn;
  turn.replies({says("you")}, ReplyStop::external);
  turn.hears("a");
  turn.takes(ExternalTurnPushed{kRootInstance, {says("me")}, {}, "host"});
  CHECK(turn.dialogue() == "user: hello | assistant: you | assistant: me | user: a");
}

TEST_CASE("messages before the agent callbacks have run wait for the first step") {
  TestRun run(with_agent_callbacks());
  run.hears("early");

  run.takes(AgentBegan{EffectId{1}, HookVerdict::proceed, {}, ""});

  CHECK(run.dialogue() == "user: hello | user: early");
}

TEST_CASE("control comes before guidance") {
  const std::vector<Event> in_order = {CancelRequested{"u", ""}, PauseRequested{"u"},
                                       ResumeRequested{"u"},     DoubtResolved{},
                                       ExternalTurnPushed{},     MessageReceived{}};
  for (std::size_t i = 1; i < in_order.size(); ++i) {
    CHECK(inbox_rank(in_order[i - 1]) < inbox_rank(in_order[i]));
  }
  CHECK(inbox_rank(InstanceResumed{}) == InboxRank::resolve);
}

TEST_CASE("a message and a cancel, taken in order of rank, end in a cancelled run") {
  TestRun run;
  run.cancels();
  CHECK(run.refuses(MessageReceived{kRootInstance, Content("try b"), "user"}) ==
        "message_received comes too late: the run is ending");
  run.aborts();
  run.ends();
  CHECK(run.status() == RunStatus::cancelled);
}

}  // namespace
}  // namespace pawl::testing
