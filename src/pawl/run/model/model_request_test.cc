// What an executor says it can do, and what its requests have therefore (B1). Effort and images are
// in model_calls_test.cc.
#include "pawl/testing/stage/model_stage_test.h"
#include "pawl/testing/stage/silent_tool_test.h"

namespace pawl {
namespace {

// The one request of a run.
PhaseExecutionRequest request_of(ModelStage& stage) {
  stage.model->line_up("fine");
  CHECK(stage.start());
  REQUIRE(stage.model->asked.size() == 1);
  return stage.model->asked.front();
}

std::vector<std::string> names_of(const std::vector<ToolSpec>& tools) {
  std::vector<std::string> names;
  for (const ToolSpec& tool : tools) names.push_back(tool.name);
  return names;
}

TEST_CASE("project docs precede the instructions, unless the executor walks up itself") {
  ModelStage told;
  told.agent.project_docs = "Use tabs.";
  CHECK(request_of(told).system_prompt == "Use tabs.\n\nGo.");

  ModelStage knows;
  knows.agent.project_docs = "Use tabs.";
  knows.model->bits_.supports_claude_md_native_walk_up = true;
  CHECK(request_of(knows).system_prompt == "Go.");

  ModelStage none;
  CHECK(request_of(none).system_prompt == "Go.");
}

TEST_CASE("project docs count for the size of every request") {
  const auto base_tokens = [](std::string docs) {
    ModelStage stage;
    stage.agent.project_docs = std::move(docs);
    request_of(stage);
    return std::get<RunStarted>(stage.records().front().event).base_tokens;
  };
  CHECK(base_tokens(std::string(30'000, 'd')) >= base_tokens("") + 5'000);
}

TEST_CASE("file tools are offered to an executor without its own, and allowed to one with them") {
  for (const bool native : {false, true}) {
    ModelStage stage;
    stage.agent.tools = {silent_tool("view"), silent_tool("pay")};
    stage.agent.file_tools = {"view"};
    stage.model->bits_.supports_native_file_tools = native;
    const PhaseExecutionRequest request = request_of(stage);
    const std::vector<std::string> both = {"pay", "view"};  // by name
    CHECK(names_of(request.tools) == (native ? std::vector<std::string>{"pay"} : both));
    CHECK(request.hook_policy.allowed_tools == both);
  }
}

TEST_CASE("subagents are told to an executor that runs them, and to no other") {
  for (const bool native : {false, true}) {
    ModelStage stage;
    stage.agent.tools = {silent_tool("view")};
    stage.agent.subagents = {{"scout", "Looks around.", "Look.", "", {"view"}}};
    stage.model->bits_.supports_native_subagents = native;
    std::vector<std::string> logged;
    const auto watching = stage.engine.subscribe([&logged](const RunEvent& event) {
      if (const auto* line = std::get_if<RunLogLine>(&event)) logged.push_back(line->text);
    });
    const PhaseExecutionRequest request = request_of(stage);
    CHECK(request.subagents.size() == (native ? 1 : 0));
    if (native) CHECK(request.subagents.front().name == "scout");
    if (native) CHECK(logged.empty());
    if (!native)
      CHECK(logged == std::vector<std::string>{"a/x runs no subagents: it is not told of 1"});
  }
}

TEST_CASE("a subagent with a tool that its parent lacks, without a name, or too many: refused") {
  const auto refusal_of = [](std::vector<SubagentSpec> subagents) {
    ModelStage stage;
    stage.agent.subagents = std::move(subagents);
    stage.model->bits_.supports_native_subagents = true;
    const Status started = stage.start();
    CHECK(stage.model->asked.empty());
    return started ? std::string("started") : started.error().message;
  };
  const SubagentSpec scout{"scout", "", "", "", {}};
  CHECK(refusal_of({{"scout", "", "", "", {"rm"}}}) ==
        "the subagent scout may use the tool rm, which its parent does not have");
  CHECK(refusal_of({{"", "", "", "", {}}}) == "a subagent has no name");
  CHECK(refusal_of(std::vector<SubagentSpec>(kSubagentsMax + 1, scout)) ==
        "an agent has at most 64 subagents");
}

}  // namespace
}  // namespace pawl
