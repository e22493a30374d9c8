// The eight reasons for which control comes back, as a host sees them that iterates over steps.
#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/pawl.h"

namespace pawl {
namespace {

std::shared_ptr<Executor> speaks_as(Runner& runner, std::vector<ScriptReply> replies) {
  Script script;
  script.replies = std::move(replies);
  return runner.scripted(std::move(script));
}

ScriptReply stops(std::string text, ReplyStop stop, std::string detail = "") {
  ScriptReply reply = ScriptReply::say(std::move(text));
  auto& speech = std::get<ScriptSpeech>(reply.outcome);
  speech.stop = stop;
  speech.stop_detail = std::move(detail);
  return reply;
}

RunnableAgent made(const MachineBuilder& machine) {
  auto agent = machine.build();
  REQUIRE_MESSAGE(agent, agent.error().message);
  return *std::move(agent);
}

struct SeenSteps {
  std::vector<YieldReason> reasons;
  std::vector<std::string> ceded;
  std::vector<std::string> suspended;
  bool done = false;  // of the last step

  void take(const MachineStep& step) {
    reasons.push_back(step.yield_reason);
    if (step.cede_content) ceded.push_back(*step.cede_content);
    for (const auto& one : step.suspended_instances) suspended.push_back(one.reason);
    done = step.done;
  }
  bool has(YieldReason reason) const {
    return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
  }
};

// A lead that is cut off, asks its worker, and ends its turn; a worker that cedes.
TEST_CASE("C3: end_turn, tool_use, max_tokens and cede are reasons of steps of a machine") {
  Runner runner;
  MachineBuilder machine("four");
  machine.node("lead")
      .instructions("Lead.")
      .executor(speaks_as(runner, {stops("cut", ReplyStop::max_tokens),
                                   ScriptReply::call("spawn_watcher", R"({"input":"look"})"),
                                   ScriptReply::say("waiting"), ScriptReply::say("all")}))
      .starts("watcher", "watch");
  machine.node("watch").instructions("Watch.").worker().executor(
      speaks_as(runner, {ScriptReply::call("cede", R"({"content":"seen"})")}));
  SeenSteps seen;
  auto steps = runner.steps(made(machine), "go");
  for (const MachineStep& step : steps) seen.take(step);
  for (const YieldReason reason :
       {YieldReason::max_tokens, YieldReason::tool_use, YieldReason::cede, YieldReason::end_turn}) {
    CAPTURE(name(reason));
    CHECK(seen.has(reason));
  }
  CHECK(seen.ceded == std::vector<std::string>{"seen"});
  CHECK(seen.done);
  CHECK(steps.result().status == RunStatus::done);
}

TEST_CASE("C3: suspend and awaiting_resume name who is suspended and why") {
  Runner runner;
  MachineBuilder machine("two");
  machine.node("n").instructions("Wait.").executor(
      speaks_as(runner, {stops("wait", ReplyStop::suspend, "the shop decides")}));
  SeenSteps seen;
  auto steps = runner.steps(made(machine), "go");
  for (const MachineStep& step : steps) seen.take(step);
  CHECK(seen.reasons == std::vector{YieldReason::suspend, YieldReason::awaiting_resume});
  CHECK(seen.suspended == std::vector<std::string>(2, "the shop decides"));
  CHECK(seen.done);
  CHECK(steps.result().status == RunStatus::waiting);
}

TEST_CASE("C3: external hands the turn to the host, and the run waits for it") {
  Runner runner;
  MachineBuilder machine("one");
  machine.node("n")
      .instructions("Hand over.")
      .executor(speaks_as(runner, {stops("yours", ReplyStop::external)}));
  SeenSteps seen;
  auto steps = runner.steps(made(machine), "go");
  for (const MachineStep& step : steps) seen.take(step);
  CHECK(seen.reasons == std::vector{YieldReason::external});
  CHECK(seen.done);
  CHECK(steps.result().status == RunStatus::waiting);
}

TEST_CASE("C3: command is the reason of a step without a model call") {
  Runner runner;
  MachineBuilder machine("commanded");
  machine.node("n")
      .instructions("Wait.")
      .executor(speaks_as(
          runner, {ScriptReply::call("suspend", R"({"reason":"r"})"), ScriptReply::say("done")}))
      .command("go", [](const Json&, const Json&) { return CommandActions().resume(); });
  SeenSteps seen;
  auto steps = runner.steps(made(machine), "go");
  for (const MachineStep& step : steps) {
    seen.take(step);
    if (step.yield_reason != YieldReason::suspend) continue;
    CHECK(runner.command(steps.result().run_id, "go"));
  }
  CHECK(seen.has(YieldReason::command));
  CHECK(steps.result().status == RunStatus::done);
}

}  // namespace
}  // namespace pawl
