// States: rules M8 and M9 of docs/charter.md, and M13 of messages.
#include "pawl/kernel/machine_stage_test.h"
#include "pawl/kernel/machine_tools.h"

namespace pawl::testing {
namespace {

constexpr const char* kSchema =
    R"({"type":"object","properties":{"severity":{"enum":["low","high"]}},"additionalProperties":false})";

RunStarted with_state(StateOwner owner = StateOwner::run) {
  RunStarted start = a_machine({a_node("main")}, "main");
  start.nodes[0].state = a_state(kSchema, "{}");
  start.nodes[0].state->owner = owner;
  return start;
}

Block patches(std::string patch) {
  return calls("update_state", R"({"patch":)" + patch + "}");
}

TEST_CASE("a patch changes the state, and the model sees the new one") {
  TestRun run(with_state());
  run.replies({patches(R"({"severity":"high"})")});
  CHECK(run.instance().state == R"({"severity":"high"})");
  CHECK(shown_state(run.state(), run.instance()) == R"(Your state: {"severity":"high"})");
  CHECK(run.dialogue().ends_with("c1: updated"));
}

TEST_CASE("a patch that does not fit changes nothing, and the model reads why") {
  TestRun run(with_state());
  run.replies({patches(R"({"severity":"worse"})")});
  CHECK(run.instance().state == "{}");
  CHECK(run.decided<CallRefused>().at(0).text.find("/severity") != std::string::npos);
}

TEST_CASE("several patches of one reply apply in order") {
  TestRun run(with_state());
  run.replies({patches(R"({"severity":"high"})"), patches(R"({"severity":"low"})")});
  CHECK(run.instance().state == R"({"severity":"low"})");
}

TEST_CASE("a patch behind a transition of the same reply is refused") {
  RunStarted start = with_state();
  start.nodes.push_back(a_node("next"));
  next_of(start, "main", "go", "next");
  TestRun run(start);
  run.replies({calls("transition_go"), patches(R"({"severity":"high"})")});
  CHECK(run.decided<StateChanged>().empty());
  CHECK(run.decided<CallRefused>().at(0).because == RefusedBecause::not_done);
}

TEST_CASE("a pack has one state for the run, seen by the nodes that list it") {
  RunStarted start = a_machine({a_node("one"), a_node("two")}, "one");
  start.packs = {PackSpec{"notes", {}, a_state("", "{}")}};
  start.nodes[0].packs = start.nodes[1].packs = {"notes"};
  next_of(start, "one", "go", "two");
  TestRun run(start);
  run.replies({calls("update_state", R"({"patch":{"a":1},"pack":"notes"})")});
  run.replies({calls("transition_go")});
  CHECK(shown_state(run.state(), run.instance()) == R"(State of the pack notes: {"a":1})");
}

// --- Owned outside -------------------------------------------------------------------------------

TEST_CASE("a patch of a state that is owned outside is a proposal, and the run goes on") {
  TestRun run(with_state(StateOwner::external));
  run.replies({patches(R"({"severity":"high"})")});
  CHECK(run.instance().state == "{}");
  CHECK(run.decided<StateProposed>().at(0) ==
        StateProposed{kRootInstance, 1, R"({"severity":"high"})", ""});
  CHECK(run.in<AwaitingModel>());

  run.takes(StateSet{kRootInstance, Content(R"({"severity":"low"})"), "owner"});
  CHECK(run.instance().state == R"({"severity":"low"})");
}

TEST_CASE(
    "a proposal against a state that has changed since is a conflict, and the model is told") {
  TestRun run(with_state(StateOwner::external));
  run.takes(StateSet{kRootInstance, Content(R"({"severity":"low"})"), "owner"});
  run.replies({patches(R"({"severity":"high"})")});
  CHECK(run.decided<StateConflict>().at(0) == StateConflict{kRootInstance, 1});
  CHECK(run.decided<CallRefused>().at(0).text.starts_with("not done: state_conflict"));

  run.replies({patches(R"({"severity":"high"})")});  // It has seen the new one.
  CHECK(run.decided<StateProposed>().at(0).proposal == 2);
}

TEST_CASE("a state is set whole, as its schema says, and only by its owner") {
  TestRun outside(with_state(StateOwner::external));
  CHECK(outside.refuses(StateSet{kRootInstance, Content(R"({"severity":1})"), "owner"})
            .find("would not fit") != std::string::npos);
  CHECK(outside.refuses(StateSet{kI2, Content("{}"), "owner"}) ==
        "state_set: there is no instance i2");
  TestRun own(with_state());
  CHECK(own.refuses(StateSet{kRootInstance, Content("{}"), "owner"}).find("belongs to the run") !=
        std::string::npos);
}

// --- Messages ------------------------------------------------------------------------------------

MessageReceived a_message(std::string text, Delivery delivery, std::string singleton = "") {
  MessageReceived event;
  event.text = Content(std::move(text));
  event.from = "u";
  event.delivery = delivery;
  event.singleton = std::move(singleton);
  return event;
}

TEST_CASE("an urgent message interrupts the model call, and is no failure") {
  TestRun run;
  run.takes(a_message("stop that", Delivery::urgent));
  CHECK(run.last().effects == Effects{AbortEffect{run.model_effect()}});

  run.aborts();
  CHECK(run.dialogue() == "user: hello | user: stop that");
  CHECK(run.in<AwaitingModel>());
  CHECK(run.instance().failures.empty());
  CHECK(run->tally.steps == 1);
}

TEST_CASE("an urgent message lets a running tool finish") {
  TestRun run;
  run.replies({calls("once")});
  run.takes(a_message("stop that", Delivery::urgent));
  CHECK(run.last().effects.empty());
  run.finishes(kC1, "ok");
  CHECK(run.dialogue() == "user: hello | assistant: [once] | c1: ok | user: stop that");
}

// Found by the simulator: the end was withdrawn, nobody was woken, and the run waited for ever.
TEST_CASE("a silent message does not withdraw the end of a run") {
  TestRun run(a_family());
  run.replies({says("done")});
  REQUIRE(std::holds_alternative<Ending>(run->course));
  CHECK(run.refuses(a_message("by the way", Delivery::silent)) ==
        "message_received comes too late: the run is done, and it was to wake nobody");
  run.ends();
  CHECK(status_of(run.state()) == RunStatus::done);
}

TEST_CASE("a silent message wakes nobody, and is there when the next step begins") {
  TestRun run;
  run.takes(a_message("by the way", Delivery::silent));
  run.replies({says("done")});
  CHECK(run.reason() == StopReason::end_turn);

  TestRun busy;
  busy.takes(a_message("by the way", Delivery::silent));
  busy.replies({calls("pure")});
  busy.finishes(kC1, "ok");
  CHECK(busy.dialogue().ends_with("c1: ok | user: by the way"));
}

TEST_CASE("of ten messages with one key the last is delivered, and says of how many") {
  TestRun run;
  for (int i = 1; i <= 10; ++i) {
    run.takes(a_message("frame " + std::to_string(i), Delivery::next_step, "camera"));
  }
  run.hears("hello again");
  run.replies({says("and?")});
  const std::vector<Message> said = run.transcript();
  CHECK(said.size() == 4);
  CHECK(*said.at(2).text.bytes() == "frame 10");
  CHECK(said.at(2).ending == "(the last of 10)");
}

}  // namespace
}  // namespace pawl::testing
