// Primary children and suspension: rules M1, M4 and M10 of docs/charter.md.
#include "pawl/kernel/machine_stage_test.h"

namespace pawl::testing {
namespace {

Block talks(std::string input = "ask them") {
  return calls("spawn_talk", R"({"input":")" + input + "\"}");
}

TEST_CASE("a primary child takes over, and its parent rests until it has ceded") {
  TestRun run(a_family());
  run.replies({talks()});
  CHECK(run.in<Resting>());
  CHECK(run.in<AwaitingModel>(kI2));
  CHECK(default_target(run.state()) == kI2);

  run.replies_as(kI2, {says("they said yes")});

  CHECK(run.in<AwaitingModel>());
  CHECK(run.dialogue().ends_with("c1: i2 has started. | user: they said yes"));
  CHECK(default_target(run.state()) == kRootInstance);
}

TEST_CASE("a second primary child in one reply is refused in words") {
  TestRun run(a_family());
  run.replies({talks("a"), talks("b")});
  CHECK(run.decided<ChildBorn>().size() == 1);
  CHECK(run.decided<CallRefused>().at(0).text ==
        "not done: a child has taken over already; there is one at a time");
}

TEST_CASE("a primary child that starts with the node acts first") {
  RunStarted start = a_family();
  node_in(start, "main").children[0].start = ChildStart::with_node;
  TestRun run(start);
  CHECK(run.in<Resting>());
  run.replies_as(kI2, {says("ready")});
  CHECK(run.dialogue() == "user: hello | user: ready");
}

TEST_CASE("what workers cede while a primary child has taken over waits for the parent's step") {
  TestRun run(a_family());
  run.replies({spawns_watcher(), talks()});
  run.replies_as(kI2, {says("seen")});
  CHECK(run.in<Resting>());
  run.replies_as(kI3, {says("they said yes")});
  CHECK(run.dialogue().ends_with("user: seen | user: they said yes"));
}

TEST_CASE("a tool of the parent's ends while its child acts, and the parent goes on resting") {
  TestRun run(a_family());
  run.replies({talks(), calls("pure")});
  run.finishes(kC2, "ok");
  CHECK(run.in<Resting>());
  run.replies_as(kI2, {says("they said yes")});
  CHECK(run.dialogue().ends_with("c1: i2 has started. | c2: ok | user: they said yes"));
}

// Found by the simulator: the run was done, and what the child would have said was lost.
TEST_CASE("a tool that answers for its parent does not end the turn while a child acts") {
  RunStarted start = a_family();
  for (PinnedTool& tool : start.tools) {
    if (tool.name == "pure") tool.ends_turn = EndsTurn::yes;
  }
  TestRun run(start);
  run.replies({talks(), calls("pure")});
  run.finishes(kC2, "ok");
  CHECK(run.in<Resting>());
  CHECK(run.in<AwaitingModel>(kI2));
  run.replies_as(kI2, {says("they said yes")});
  CHECK(run.in<AwaitingModel>());
  CHECK(run.dialogue().ends_with("c1: i2 has started. | c2: ok | user: they said yes"));
}

// --- Suspension ----------------------------------------------------------------------------------

TEST_CASE("a call of suspend is answered by what the instance is resumed with") {
  TestRun run(a_family());
  run.replies({calls("suspend", R"({"reason":"a key","metadata":{"which":1}})")});

  const Suspended& phase = std::get<Suspended>(run.instance().phase);
  CHECK(phase.reason == "a key");
  CHECK(phase.metadata == R"({"which":1})");
  CHECK(phase.suspend_id == "c1");
  CHECK(run.status() == RunStatus::waiting);

  InstanceResumed resumed{kRootInstance, "c1", "u", Content("the key is 7")};
  run.takes(resumed);
  CHECK(run.dialogue() == "user: hello | assistant: [suspend] | c1: the key is 7");
  CHECK(run.yields() == Names{"suspend", "command"});
}

TEST_CASE("without a text the result of suspend is resumed") {
  TestRun run(a_family());
  run.replies({calls("suspend", R"({"reason":"a key"})")});
  run.takes(InstanceResumed{kRootInstance, "c1", "u"});
  CHECK(run.dialogue().ends_with("c1: resumed"));
}

TEST_CASE("others go on while one is suspended; then the run waits and names who is") {
  TestRun run(a_family());
  run.replies({spawns_watcher(), calls("suspend", R"({"reason":"a key"})")});
  CHECK(run.status() == RunStatus::running);
  run.replies_as(kI2, {says("seen")});
  CHECK(run.status() == RunStatus::waiting);
  CHECK(suspended_in(run.state()) ==
        std::vector{SuspendedInstance{kRootInstance, "c2", "a key", ""}});

  run.takes(InstanceResumed{kRootInstance, "c2", "u"});
  CHECK(run.dialogue().ends_with("c2: resumed | user: seen"));
}

TEST_CASE("three faults of a resume are told apart, and change nothing") {
  TestRun run(a_family());
  run.replies({spawns_watcher(), calls("suspend", R"({"reason":"a key"})")});
  CHECK(run.refuses(InstanceResumed{kI4, "c2", "u"}) ==
        "instance_resumed: there is no instance i4");
  CHECK(run.refuses(InstanceResumed{kI2, "c2", "u"}) ==
        "instance_resumed is not accepted while awaiting_model");
  CHECK(run.refuses(InstanceResumed{kRootInstance, "c9", "u"}) ==
        "i1 is suspended as c2, not as c9");
}

TEST_CASE("what is told to an instance that a script suspended is a message") {
  TestRun run(a_family());
  run.replies({says("hold")}, ReplyStop::suspend);
  const std::string id = std::get<Suspended>(run.instance().phase).suspend_id;
  run.takes(InstanceResumed{kRootInstance, id, "u", Content("go")});
  CHECK(run.dialogue() == "user: hello | assistant: hold | user: go");
}

}  // namespace
}  // namespace pawl::testing
