// Iteration over the steps of a run.
#include <doctest/doctest.h>

#include "pawl/pawl.h"

namespace pawl {
namespace {

RunnableAgent stepping(Runner& runner, std::vector<ScriptReply> replies) {
  RunnableAgent agent;
  agent.charter.name = "stepping";
  agent.charter.instructions = "Do as the script says.";
  Script script;
  script.replies = std::move(replies);
  agent.executor = runner.scripted(std::move(script));
  ToolSpec spec;
  spec.name = "t";
  spec.effect = EffectClass::pure;
  agent.tools = {runner.tool({spec, [](const auto&) { return std::string("r"); }, {}})};
  return agent;
}

TEST_CASE("after the last step there is the result of the run") {
  Runner runner;
  auto steps =
      runner.steps(stepping(runner, {ScriptReply::call("t"), ScriptReply::say("end")}), "go");
  CHECK(!steps.result().run_id.text.empty());

  std::vector<YieldReason> reasons;
  for (const MachineStep& step : steps) reasons.push_back(step.yield_reason);

  CHECK(reasons == std::vector{YieldReason::tool_use, YieldReason::end_turn});
  CHECK(steps.result().status == RunStatus::done);
  CHECK(steps.result().output == "end");
  CHECK(steps.result().steps == 2);
}

TEST_CASE("a run that is not accepted has no steps, and its result says why") {
  Runner runner;
  auto steps = runner.steps(RunnableAgent(), "go");

  CHECK(!steps.next());
  CHECK(steps.result().error == "the agent has no executor");
}

TEST_CASE("iteration that is left early leaves the runner usable") {
  Runner runner;
  const RunnableAgent agent =
      stepping(runner, {ScriptReply::call("t"), ScriptReply::call("t"), ScriptReply::say("end")});
  for (const MachineStep& step : runner.steps(agent, "go")) {
    CHECK(step.number == 1);
    break;
  }

  CHECK(runner.run(stepping(runner, {ScriptReply::say("again")}), "go").output == "again");
}

}  // namespace
}  // namespace pawl
