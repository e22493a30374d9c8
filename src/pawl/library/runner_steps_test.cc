// Iteration over the steps of a run.
#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/journal/record_view.h"
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

TEST_CASE("ten thousand events are numbered without a gap, and previews are the text to come") {
  std::uint64_t next = 0;
  bool dense = true;
  std::string previewed;
  bool same = true;
  Ports ports;
  ports.events = [&](const RunEvent& event) {
    if (const auto* preview = std::get_if<Preview>(&event)) {
      if (preview->kind == Preview::Kind::text) previewed += preview->text;
    } else if (const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event)) {
      const Record& record = (*view)->record;
      dense = dense && record.seq == next++;
      if (const auto* replied = std::get_if<ModelReplied>(&record.event)) {
        const auto* text = std::get_if<TextBlock>(&replied->blocks.front());
        same = same && text != nullptr && *text->text.bytes() == previewed;
        previewed.clear();
      }
    }
  };
  Runner runner(std::move(ports));
  ScriptReply endless = ScriptReply::call("t", R"({"n":"{{n}}"})");
  std::get<ScriptSpeech>(endless.outcome).text = {"Step {{n}},", " and one more."};
  RunnableAgent agent = stepping(runner, {});
  Script script;
  script.replies = {endless};
  script.after_last = Script::AfterLast::repeats_last;
  agent.executor = runner.scripted(std::move(script));
  agent.charter.limits.steps = 5000;

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.stop_reason == "steps");
  CHECK(next >= 10'000);
  CHECK(dense);
  CHECK(same);
}

TEST_CASE("a run without ports whose model never ends stops at the default bounds") {
  Runner runner;
  RunnableAgent agent = stepping(runner, {});
  Script script;
  script.replies = {ScriptReply::call("t", R"({"n":"{{n}}"})")};
  script.after_last = Script::AfterLast::repeats_last;
  agent.executor = runner.scripted(std::move(script));

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.status == RunStatus::stopped);
  CHECK(result.stop_reason == "steps");
  CHECK(result.steps == 50);
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

// G11: what a terminal tool tells people is the answer, and what the model would read is beside it.
TEST_CASE("a tool of the host's may tell people something else than the model") {
  Ports ports;
  std::vector<std::string> lines;
  ports.events = [&lines](const RunEvent& event) {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view != nullptr) lines.push_back(event_json(**view));
  };
  Runner runner(std::move(ports));
  RunnableAgent agent =
      stepping(runner, {ScriptReply::call("hand_over"), ScriptReply::say("never said")});
  ToolSpec spec;
  spec.name = "hand_over";
  spec.effect = EffectClass::pure;
  spec.ends_turn = EndsTurn::yes;
  NativeTool tool{spec, {}, {}};
  tool.split = [](const ToolInvocation&) -> Result<SplitReply> {
    return SplitReply{"ticket 7 was opened", "A colleague will write to you."};
  };
  agent.tools.push_back(runner.tool(std::move(tool)));

  const Runner::Result result = runner.run(agent, "help");

  CHECK(result.error.empty());
  CHECK(result.output == "A colleague will write to you.");
  CHECK(result.steps == 1);  // no further call of the model
  const auto finished = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find(R"("type":"tool_finished")") != std::string::npos;
  });
  REQUIRE(finished != lines.end());
  CHECK(finished->find(R"("content":"ticket 7 was opened")") != std::string::npos);
  CHECK(finished->find(R"("user_reply":"A colleague will write to you.")") != std::string::npos);
}

}  // namespace
}  // namespace pawl
