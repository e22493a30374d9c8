// Commands: rule M11 of docs/charter.md, "commands".
#include "pawl/kernel/machine_stage_test.h"

namespace pawl::testing {
namespace {

NodeCommand a_command(std::string name, std::string actions, std::string input_schema = "") {
  NodeCommand command;
  command.name = std::move(name);
  command.actions = std::move(actions);
  command.input_schema = std::move(input_schema);
  return command;
}

CommandGiven gives(std::string name, std::string input = "{}",
                   InstanceId instance = kRootInstance) {
  CommandGiven event;
  event.instance = instance;
  event.command = std::move(name);
  event.input = Content(std::move(input));
  event.by = "u";
  event.number = 1;
  return event;
}

constexpr std::string_view kSeverity =
    R"({"type":"object","properties":{"severity":{"enum":["low","high"]}},)"
    R"("additionalProperties":false})";

// "triage" with a state, a worker, a child, and the transition "escalate" to "fix".
RunStarted a_triage(std::vector<NodeCommand> commands) {
  RunStarted start = a_machine(
      {a_node("fix"), a_node("talker"), a_node("triage"), a_node("watch", NodeKind::worker)},
      "triage");
  NodeSpec& triage = node_in(start, "triage");
  triage.state = a_state(std::string(kSeverity), "{}");
  triage.commands = std::move(commands);
  triage.workers = {a_child("watcher", "watch")};
  triage.children = {a_child("talk", "talker")};
  next_of(start, "triage", "escalate", "fix");
  node_in(start, "watch").commands = {a_command("enough", R"([{"cede":{"$input":""}}])")};
  return start;
}

RunStarted one_command(std::string actions, std::string schema = "") {
  return a_triage({a_command("go", std::move(actions), std::move(schema))});
}

TEST_CASE("a command patches the state and takes a transition without a model call") {
  TestRun run(
      one_command(R"([{"patch":{"severity":{"$input":"/severity"}}},{"transition":"escalate"}])"));
  run.replies({calls("suspend", R"({"reason":"a key"})")});
  const std::size_t calls_before = run.started<CallModel>();

  run.takes(gives("go", R"({"severity":"high"})"));

  CHECK(run.instance().node == "fix");
  CHECK(run.decided<StateChanged>().at(0).state == R"({"severity":"high"})");
  CHECK(run.yields() == Names{"suspend", "command"});
  CHECK(run.started<CallModel>() == calls_before + 1);  // of the node that it is in now
  CHECK(run.dialogue().find("c1: resumed") != std::string::npos);
}

TEST_CASE("a command is done as a whole or not at all") {
  TestRun run(
      one_command(R"([{"patch":{"severity":"high"}},{"spawn":{"worker":"nobody","input":"x"}}])"));
  CHECK(run.refuses(gives("go")) == "command go: the node triage has no such worker or child");
  CHECK(run.instance().state == "{}");
}

TEST_CASE("an input that does not fit refuses the command") {
  TestRun run(
      one_command(R"([{"message":"hello"}])", R"({"type":"object","required":["severity"]})"));
  CHECK(run.refuses(gives("go")).find("the input does not fit") != std::string::npos);
  CHECK(run.refuses(gives("nothing")) ==
        "command nothing: the node triage of i1 has no command nothing; it has go");
  TestRun pointer(one_command(R"([{"message":{"$input":"/text"}}])"));
  CHECK(pointer.refuses(gives("go")) == "command go: the input has nothing at \"/text\"");
}

TEST_CASE("a command that does not interrupt leaves the model call under way as it is") {
  TestRun run(one_command(R"([{"patch":{"severity":"low"}},{"message":"look"},
      {"spawn":{"worker":"watcher","input":"x"}}])"));

  run.takes(gives("go"));

  CHECK(run.in<AwaitingModel>());
  CHECK(run.instance(kI2).node == "watch");
  CHECK(run.instance().state == R"({"severity":"low"})");
  run.replies({says("done")});
  CHECK(run.dialogue() == "user: hello | assistant: done | user: look");
}

TEST_CASE("a transition by command gives up the model call under way, which is no failure") {
  TestRun run(one_command(R"([{"transition":"escalate"}])"));
  run.takes(gives("go"));
  CHECK(run.instance().node == "fix");
  CHECK(run.in<AwaitingModel>());
  CHECK(run.decided<StepGivenUp>().size() == 1);
  CHECK(run.decided<AttemptDiscarded>().size() == 1);
  CHECK(run.yields() == Names{"command"});
  run.replies({says("mended")});
  CHECK(run.status() != RunStatus::failed);
}

TEST_CASE("a transition by command waits for the tools that run, and denies those that do not") {
  TestRun run(one_command(R"([{"transition":"escalate"}])"));
  run.replies({calls("pure")});
  run.takes(gives("go"));
  CHECK(run.instance().node == "triage");
  CHECK(run.refuses(gives("go")) == "command go: i1 is about to leave what it does; try again");
  run.finishes(kC1, "ok");
  CHECK(run.instance().node == "fix");
}

TEST_CASE("a patch behind a transition changes the state that the next node begins with") {
  RunStarted start = one_command(R"([{"transition":"escalate"},{"patch":{"severity":"high"}}])");
  node_in(start, "fix").state = a_state(std::string(kSeverity), "{}");
  TestRun run(start);
  run.takes(gives("go"));
  CHECK(run.instance().state == R"({"severity":"high"})");
}

TEST_CASE("a worker behind a transition is one of the next node") {
  RunStarted start =
      one_command(R"([{"transition":"escalate"},{"spawn":{"worker":"mate","input":"x"}}])");
  node_in(start, "fix").workers = {a_child("mate", "watch")};
  TestRun run(start);
  run.takes(gives("go"));
  CHECK(run.instance(kI2).name == "mate");
  CHECK(run.instance().workers == 1);
}

TEST_CASE("a command suspends an instance, and another one resumes it") {
  RunStarted start = a_triage({a_command("open", R"([{"resume":{}}])"),
                               a_command("pause", R"([{"suspend":{"reason":"closed",
                                   "metadata":{"$input":""}}}])")});
  TestRun run(start);
  run.takes(gives("pause", R"({"why":"night"})"));
  const Suspended& phase = std::get<Suspended>(run.instance().phase);
  CHECK(phase.reason == "closed");
  CHECK(phase.metadata == R"({"why":"night"})");
  CHECK(run.status() == RunStatus::waiting);
  CHECK(run.refuses(gives("pause")) == "command pause: i1 is suspended already");

  run.takes(gives("open"));
  CHECK(run.in<AwaitingModel>());
  CHECK(run.refuses(gives("open")) == "command open: i1 is not suspended");
}

TEST_CASE("a resume by command gives the call of suspend its result") {
  TestRun run(one_command(R"([{"resume":{"suspend_id":"c1"}},{"message":"go on"}])"));
  run.replies({calls("suspend", R"({"reason":"a key"})")});
  run.takes(gives("go"));
  CHECK(run.dialogue() == "user: hello | assistant: [suspend] | c1: resumed | user: go on");
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a resume by command with another id is refused") {
  TestRun run(one_command(R"([{"resume":{"suspend_id":"c9"}}])"));
  run.replies({calls("suspend", R"({"reason":"a key"})")});
  CHECK(run.refuses(gives("go")) == "command go: i1 is suspended as c1, not as c9");
}

TEST_CASE("a suspension by command waits for the tools that run, and keeps their results") {
  TestRun run(one_command(R"([{"suspend":{"reason":"r"}}])"));
  run.replies({calls("pure")});
  run.takes(gives("go"));
  CHECK(run.in<AwaitingTools>());
  run.finishes(kC1, "ok");
  CHECK(run.in<Suspended>());
  CHECK(run.dialogue().ends_with("c1: ok"));
}

TEST_CASE("a child that a command starts takes over, and the parent's model call is given up") {
  TestRun run(one_command(R"([{"spawn":{"worker":"talk","input":"ask"}}])"));
  run.takes(gives("go"));
  CHECK(run.in<Resting>());
  CHECK(run.in<AwaitingModel>(kI2));
  CHECK(default_target(run.state()) == kI2);
  run.replies_as(kI2, {says("they said yes")});
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a worker that cedes by command hands its content to its parent") {
  TestRun run(one_command(R"([{"spawn":{"worker":"watcher","input":"x"}}])"));
  run.takes(gives("go"));
  run.takes(gives("enough", R"({"seen":1})", kI2));
  run.replies({says("waiting")});
  CHECK(run.dialogue().ends_with(R"(user: {"seen":1})"));
}

TEST_CASE("the root cannot cede by command") {
  TestRun run(one_command(R"([{"cede":"x"}])"));
  CHECK(run.refuses(gives("go")).find("has nobody to cede to") != std::string::npos);
}

TEST_CASE("a patch of a state that is owned outside is a proposal") {
  RunStarted start = one_command(R"([{"patch":{"severity":"high"}}])");
  node_in(start, "triage").state->owner = StateOwner::external;
  TestRun run(start);
  run.takes(gives("go"));
  CHECK(run.instance().state == "{}");
  CHECK(run.decided<StateProposed>().at(0).patch == R"({"severity":"high"})");
}

TEST_CASE("a command that no process stands behind starts nothing: the run pauses") {
  TestRun run(one_command(R"([{"transition":"escalate"}])"));
  run.replies({calls("suspend", R"({"reason":"a key"})")});
  run.parks();
  CommandGiven command = gives("go");
  command.drive = CommandDrive::undriven;

  run.takes(command);

  CHECK(run.last().effects.empty());
  CHECK(run.instance().node == "fix");
  CHECK(waits_for(run.state()) == WaitFor::paused);
  run.resumes();
  CHECK(run.in<AwaitingModel>());
}

TEST_CASE("a command that starts nothing leaves a run that waits as it waits") {
  TestRun run(one_command(R"([{"patch":{"severity":"high"}}])"));
  run.replies({calls("suspend", R"({"reason":"a key"})")});
  CommandGiven command = gives("go");
  command.drive = CommandDrive::undriven;
  run.takes(command);
  CHECK(waits_for(run.state()) == WaitFor::event);
}

TEST_CASE("what a host's function has made is carried out as it is") {
  TestRun run(a_triage({a_command("go", "")}));
  CHECK(run.refuses(gives("go")) == "command go: this process has no function for the command go");
  CommandGiven command = gives("go");
  command.actions = R"([{"message":{"$input":"/x"}}])";
  run.takes(command);
  CHECK(run.decided<MessageAdded>().at(0).text == R"({"$input":"/x"})");
  command.actions = R"([{"fly":1}])";
  CHECK(run.refuses(command) == "command go: there is no action fly");
}

TEST_CASE("a command is a step, and is refused where none is left") {
  RunStarted start = one_command(R"([{"message":"x"}])");
  start.limits.steps = 2;
  TestRun run(start);
  run.takes(gives("go"));
  CHECK(run->tally.steps == 2);
  CHECK(run.refuses(gives("go")) == "command go: a limit leaves no room for another step");
}

TEST_CASE("a run that is ending takes no command") {
  TestRun run(one_command(R"([{"message":"x"}])"));
  run.cancels();
  CHECK(run.refuses(gives("go")).find("comes too late") != std::string::npos);
}

}  // namespace
}  // namespace pawl::testing
