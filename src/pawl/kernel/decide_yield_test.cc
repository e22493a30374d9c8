// The eight yield reasons, and the instances that give control away and get it back.
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

TEST_CASE("each of the eight yield reasons stands in a step's record, by its name") {
  TestRun run;
  run.replies({calls("pure")});
  run.finishes(kC1, "ok");
  run.replies({says("cut")}, ReplyStop::max_tokens);
  run.replies({says("over to you")}, ReplyStop::external);
  run.takes(ExternalTurnPushed{kRootInstance, {calls("pure", "2")}, {}, "host"});
  run.finishes(kC2, "ok");
  run.replies({says("hold on")}, ReplyStop::suspend);
  run.parks();
  run.takes(InstanceResumed{kRootInstance, "s5", "user"});
  run.spawns("helper");
  run.replies_as(kI2, {says("helped")}, ReplyStop::cede);
  run.replies({says("done")});

  CHECK(run.yields() == Names{"tool_use", "max_tokens", "external", "tool_use", "suspend",
                              "awaiting_resume", "command", "cede", "end_turn"});
}

TEST_CASE("what somebody says in the model's place is output like the model's") {
  TestRun run;
  run.replies({says("over to you")}, ReplyStop::external);
  const std::uint64_t before = run->tally.bytes_out;

  run.takes(ExternalTurnPushed{kRootInstance, {says("twelve bytes")}, {}, "host"});

  CHECK(run->tally.bytes_out == before + 12);
}

// --- cede -------------------------------------------------------------------------------------

TEST_CASE("a root that cedes is done, with its text") {
  TestRun run;
  ModelReplied reply = run.reply({says("all yours")}, ReplyStop::cede);
  reply.stop_detail = "handed over";

  run.takes(reply);
  run.ends();

  CHECK(run.status() == RunStatus::done);
  CHECK(run.reason() == StopReason::cede);
  CHECK(run.output() == "all yours");
}

TEST_CASE("a worker that cedes leaves the tree, and its text wakes its parent") {
  TestRun run;
  run.spawns("helper");
  run.replies({says("I wait")});
  REQUIRE(run.in<Resting>());
  REQUIRE(!run.ending());

  run.replies_as(kI2, {says("found it")}, ReplyStop::cede);

  CHECK(find_instance(run.state(), kI2) == nullptr);
  CHECK(run.in<AwaitingModel>());
  CHECK(run.dialogue() == "user: hello | assistant: I wait | user: found it");
}

TEST_CASE("the workers of a worker that cedes are its parent's from then on") {
  TestRun run;
  run.spawns("helper");
  run.spawns("helper's", kI2);
  run.spawns("helper's helper's", InstanceId{3});

  run.replies_as(InstanceId{3}, {says("mine is done")}, ReplyStop::cede);
  run.replies_as(InstanceId{4}, {says("mine, too")}, ReplyStop::cede);

  CHECK(run.dialogue(kI2) == "user: task | user: mine is done | user: mine, too");
  CHECK(run.dialogue() == "user: hello");
}

TEST_CASE("a worker that cedes does not disturb a parent that is busy") {
  TestRun run;
  run.spawns("helper");

  run.replies_as(kI2, {says("found it")}, ReplyStop::cede);

  CHECK(run.last().effects.empty());
  run.replies({says("done")});
  CHECK(run.reason() == StopReason::end_turn);
}

TEST_CASE("what a worker cedes while its parent's calls run comes after their results") {
  TestRun run;
  run.spawns("helper");
  run.replies({calls("pure")});

  run.replies_as(kI2, {says("found it")}, ReplyStop::cede);
  run.finishes(kC1, "ok");

  CHECK(run.dialogue() == "user: hello | assistant: [pure] | c1: ok | user: found it");
}

TEST_CASE("the children of a worker that cedes become its parent's") {
  TestRun run;
  run.spawns("middle");
  run.spawns("leaf", kI2);
  run.replies_as(kI2, {says("middle done")}, ReplyStop::cede);
  CHECK(run.instance(kI3).parent == kRootInstance);

  run.replies_as(kI3, {says("leaf done")}, ReplyStop::cede);

  CHECK(run.dialogue() == "user: hello | user: middle done | user: leaf done");
}

TEST_CASE("a run with workers is done when the last of them rests") {
  TestRun run;
  run.spawns("helper");
  run.replies({says("root's answer")});
  CHECK(run.status() == RunStatus::running);

  run.replies_as(kI2, {says("helper's answer")});

  CHECK(run.reason() == StopReason::end_turn);
  run.ends();
  CHECK(run.output() == "root's answer");
}

// --- calls in a reply that gives control away -------------------------------------------------

TEST_CASE("calls in a reply that suspends or hands out have a result: they are refused") {
  const std::string refused = "not run: the same reply gave control away; ask again";
  for (const ReplyStop stop : {ReplyStop::suspend, ReplyStop::external}) {
    TestRun run;
    run.replies({says("hold"), calls("once"), calls("nope")}, stop);

    CHECK(run.started<RunTool>() == 0);
    CHECK(run->calls.empty());
    CHECK(run.dialogue() ==
          "user: hello | assistant: hold [once] [nope] | c1! " + refused + " | c2! " + refused);
    CHECK(run.decided<CallRefused>().at(0).because == RefusedBecause::yielded);
    CHECK(run->tally.tool_calls == 0);
    CHECK(run.instance().guard.tool_errors == 0);
    CHECK(run.status() == RunStatus::waiting);
  }
}

// --- suspend ----------------------------------------------------------------------------------

TEST_CASE("a suspended run waits for somebody to resume it by its suspend id") {
  TestRun run;
  ModelReplied reply = run.reply({says("need a key")}, ReplyStop::suspend);
  reply.stop_detail = "key needed";

  run.takes(reply);

  CHECK(run.status() == RunStatus::waiting);
  CHECK(waits_for(run.state()) == WaitFor::event);
  CHECK(std::get<Suspended>(run.instance().phase).suspend_id == "s1");
  CHECK(std::get<Suspended>(run.instance().phase).reason == "key needed");
  CHECK(wants_park(run.state()));

  run.parks();

  CHECK(!wants_park(run.state()));
  CHECK(run.refuses(RunWaiting{}) == "run_waiting, but the run does not wait");
  CHECK(run.yields() == Names{"suspend", "awaiting_resume"});

  run.takes(InstanceResumed{kRootInstance, "s1", "user"});

  CHECK(run.in<AwaitingModel>());
  CHECK(run->tally.steps == 3);  // the reply, the command, the next reply
  CHECK(run->tally.model_calls == 2);
}

TEST_CASE("a wrong id, an instance that is not suspended and none at all are told apart") {
  TestRun run;
  run.spawns("helper");
  run.replies({says("hold")}, ReplyStop::suspend);

  CHECK(run.refuses(InstanceResumed{kRootInstance, "s9", "user"}) ==
        "i1 is suspended as s1, not as s9");
  CHECK(run.refuses(InstanceResumed{kI2, "s1", "user"}) ==
        "instance_resumed is not accepted while awaiting_model");
  CHECK(run.refuses(InstanceResumed{InstanceId{7}, "s1", "user"}) ==
        "instance_resumed: there is no instance i7");
}

TEST_CASE("a resume is a step of its own and respects the bound") {
  Limits limits;
  limits.steps = 1;
  TestRun run(with_limits(limits));
  run.replies({says("hold")}, ReplyStop::suspend);

  run.takes(InstanceResumed{kRootInstance, "s1", "user"});

  CHECK(run.reason() == StopReason::steps);
  CHECK(run->tally.steps == 1);
}

TEST_CASE("every suspended instance is recorded as awaiting its resume") {
  TestRun run;
  run.spawns("helper");
  run.replies({says("hold")}, ReplyStop::suspend);
  run.replies_as(kI2, {says("me too")}, ReplyStop::suspend);

  run.parks();

  CHECK(run.decided() == Decisions{StepEnded{kRootInstance, 2, YieldReason::awaiting_resume, 0},
                                   StepEnded{kI2, 2, YieldReason::awaiting_resume, 0}});
}

TEST_CASE("a suspended run survives its process, and a message waits for the resume") {
  TestRun run;
  run.replies({says("hold")}, ReplyStop::suspend);
  run.parks();
  run.crashes();
  run.hears("here is the key");
  CHECK(run.status() == RunStatus::waiting);

  run.takes(InstanceResumed{kRootInstance, "s1", "user"});

  CHECK(run.dialogue() == "user: hello | assistant: hold | user: here is the key");
}

// --- external ---------------------------------------------------------------------------------

TEST_CASE("a turn given to the host waits for it, and its answer ends the turn") {
  TestRun run;
  run.replies({says("your move")}, ReplyStop::external);
  CHECK(run.status() == RunStatus::waiting);

  run.takes(ExternalTurnPushed{kRootInstance, {says("e4")}, tokens(5), "host"});

  CHECK(run.yields() == Names{"external", "end_turn"});
  CHECK(run->tally.usage == tokens(5));
  CHECK(run->tally.model_calls == 1);
  run.ends();
  CHECK(run.output() == "e4");
}

TEST_CASE("calls in a pushed turn are run like a model's") {
  TestRun run;
  run.replies({says("your move")}, ReplyStop::external);

  run.takes(ExternalTurnPushed{kRootInstance, {calls("once", "1"), calls("rm")}, {}, "host"});

  CHECK(run.last().effects == Effects{RunTool{EffectId{2}, kRootInstance, kC1, 1}});
  run.finishes(kC1, "done");
  CHECK(run.in<AwaitingModel>());
  CHECK(std::get<CallModel>(run.last().effects.at(0)).position == 2);
}

TEST_CASE("a pushed turn is a step and respects the bound") {
  Limits limits;
  limits.steps = 1;
  TestRun run(with_limits(limits));
  run.replies({says("your move")}, ReplyStop::external);

  run.takes(ExternalTurnPushed{kRootInstance, {calls("once")}, {}, "host"});

  CHECK(run.reason() == StopReason::steps);
  CHECK(run.started<RunTool>() == 0);
}

TEST_CASE("a turn that was not given away cannot be pushed") {
  TestRun run;
  CHECK(run.refuses(ExternalTurnPushed{kRootInstance, {says("me")}, {}, "host"}) ==
        "external_turn_pushed is not accepted while awaiting_model");
}

// --- branches ---------------------------------------------------------------------------------

TEST_CASE("a spawned instance has its own node, transcript and steps") {
  TestRun run;

  run.spawns("helper");

  CHECK(run.decided() == Decisions{InstanceBorn{kI2, kRootInstance, 6}, StepBegan{kI2, 2}});
  CHECK(run.instance(kI2).node == "helper");
  CHECK(run.dialogue(kI2) == "user: task");
  CHECK(run.refuses(InstanceSpawned{InstanceId{9}, "x", Content("t")}) ==
        "no instance i9 to spawn from");
}

TEST_CASE("an outcome that names another instance than its call's is refused") {
  TestRun run;
  run.spawns("helper");
  run.replies({calls("pure")});
  run.replies_as(kI2, {calls("once")});
  ToolFinished astray = run.finish(kC2, "done");
  astray.instance = kRootInstance;

  CHECK(run.refuses(astray) == "tool_finished comes too late: e4 is closed");
  run.crashes();
  CHECK(run.refuses(DoubtResolved{kRootInstance, kC2, DoubtVerdict::happened, {}, "user"}) ==
        "c2 is not in doubt");
  run.takes(DoubtResolved{kI2, kC2, DoubtVerdict::happened, {}, "user"});
  CHECK(run.in<AwaitingModel>(kI2));
}

}  // namespace
}  // namespace pawl::testing
