// Executors that run tools themselves, or bring a server of their own.
#include <doctest/doctest.h>

#include "pawl/gate/call_gate.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "pawl/testing/stage/run_stage_test.h"

namespace pawl {
namespace {

struct Quiet final : Operation {
  void abort() override {}
};

class NamedTool final : public Tool {
 public:
  explicit NamedTool(std::string name) {
    spec_.name = std::move(name);
    spec_.effect = EffectClass::pure;
    spec_.input_schema = R"({"type":"object"})";
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation&,
                                    std::function<void(ToolOutcome)>) override {
    return std::make_unique<Quiet>();
  }

  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return std::make_unique<Quiet>();
  }

 private:
  ToolSpec spec_;
};

// As the port wants it of one with a loop of its own: it asks before each, reports each, obeys.
class LoopingExecutor final : public Executor {
 public:
  explicit LoopingExecutor(Loop& loop) : loop_(loop) {
    bits_.supports_native_file_tools = true;
    bits_.supports_conversation_replay = true;
  }
  const ExecutorCapabilities& capabilities() const override { return bits_; }
  std::vector<ExecutorModelDescriptor> list_models() const override { return {}; }
  bool supports(std::string_view) const override { return true; }
  std::optional<McpServerConfig> mcp_server() const override { return server; }
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    ++phases;
    std::vector<NativeToolResult> results;
    for (const auto& [tool, input] : tools) {
      const HookDecision decision = check(request.hook_policy, tool, input);
      const bool allowed = decision.verdict == HookDecision::Verdict::allow;
      using Outcome = NativeToolResult::Outcome;
      results.push_back({tool, allowed ? "did it" : decision.reason,
                         allowed ? Outcome::fine : Outcome::error, input});
    }
    loop_.post([sink, results] {
      for (const NativeToolResult& result : results) sink(result);
      sink(TextDelta{"fine"});
      sink(UsageReported{{10, 5, 0, 0}});
      sink(PhaseDone{PhaseReplied{ReplyStop::end_turn, "", ""}});
    });
    return std::make_unique<Quiet>();
  }

  std::vector<std::pair<std::string, std::string>> tools;  // with their inputs
  std::optional<McpServerConfig> server;
  int phases = 0;

 private:
  Loop& loop_;
  ExecutorCapabilities bits_;
};

// Denies what says rm, and would ask somebody about a push.
class WordGate final : public CallGate {
 public:
  std::vector<CallJudgement> judge(const ProposedPlan& plan) override {
    std::vector<CallJudgement> judgements;
    for (const ProposedCall& call : plan.calls) {
      seen.push_back(call.input);
      CallJudgement judgement;
      judgement.verdict = call.input.find("rm") != std::string::npos     ? CallVerdict::deny
                          : call.input.find("push") != std::string::npos ? CallVerdict::ask
                                                                         : CallVerdict::allow;
      judgement.reason = "no rm here";
      judgements.push_back(std::move(judgement));
    }
    return judgements;
  }
  std::unique_ptr<Operation> ask(const ProposedPlan&, std::function<void(CallJudgement)>) override {
    return std::make_unique<Quiet>();
  }
  Digest binding_of(const ProposedCall&) override { return {}; }

  std::vector<std::string> seen;
};

struct LoopStage {
  TestLoop loop;
  MemoryJournal journal{loop};
  std::shared_ptr<LoopingExecutor> executor = std::make_shared<LoopingExecutor>(loop);
  PreparedAgent agent;
  Engine engine{
      EngineOptions{loop,
                    {&journal, &journal, &journal, &journal},
                    {},
                    [this](const PinnedCharter&) -> Result<PreparedAgent> { return agent; },
                    "stage"}};
  Service service{engine};
  const RunId id{"r"};

  explicit LoopStage(const std::string& tool) {
    agent.charter.name = "stage";
    agent.charter.instructions = "Go.";
    agent.charter.model = "a/x";
    agent.executor = executor;
    agent.tools = {std::make_shared<NamedTool>(tool)};
    ResolvedTarget target;
    target.literal = "a/x";
    agent.targets = {target};
  }
  Status start() {
    Status outcome = ok();
    service.start({agent, "go", id, InvocationContextBuilder().build(), {}},
                  [&outcome](const Result<RunId>& accepted) {
                    if (!accepted) outcome = accepted.error();
                  });
    loop.advance(300);
    return outcome;
  }
};

TEST_CASE("tools of an executor's own loop are judged one by one: list, then gate") {
  LoopStage stage("shell");
  const auto gate = std::make_shared<WordGate>();
  stage.agent.gate = gate;
  stage.executor->tools = {{"shell", R"({"command":"ls"})"},
                           {"shell", R"({"command":"rm x"})"},
                           {"shell", R"({"command":"git push"})"},
                           {"other", R"({"command":"ls"})"}};
  CHECK(stage.start());
  CHECK(stage.journal.list({"r", "", "", 1})->front().status == "done");
  // What is on no list does not come before the gate.
  CHECK(gate->seen == std::vector<std::string>{R"({"command":"ls"})", R"({"command":"rm x"})",
                                               R"({"command":"git push"})"});
  std::vector<std::string> kept;
  for (const Record& record : decoded(*stage.journal.read(stage.id, 0, SIZE_MAX))) {
    const auto* const reply = std::get_if<ModelReplied>(&record.event);
    if (reply == nullptr) continue;
    for (const Block& block : reply->blocks) {
      if (const auto* raw = std::get_if<RawBlock>(&block)) kept.push_back(*raw->json.bytes());
    }
  }
  REQUIRE(kept.size() == 4);
  const auto says = [&](std::size_t which, const char* text) {
    return kept[which].find(text) != std::string::npos;
  };
  CHECK(says(0, "did it"));
  CHECK(says(0, "\"outcome\":\"fine\""));
  CHECK(says(1, "no rm here"));
  CHECK(says(2, "needs a person's approval"));
  CHECK(says(3, "is not allowed; the allowed ones are: shell"));
  for (std::size_t denied = 1; denied < 4; ++denied) CHECK(says(denied, "\"outcome\":\"error\""));
}

TEST_CASE("A13 an executor's own tools get the charter's write roots, and are held to them") {
  LoopStage stage("create_file");
  stage.agent.charter.directory = "/w";
  stage.agent.charter.sandbox.write = {"out", "/srv/"};
  stage.executor->tools = {{"create_file", R"({"path":"out/a"})"},
                           {"create_file", R"({"path":"a"})"},
                           {"create_file", R"({"path":"/srv/a"})"}};
  CHECK(stage.start());
  std::string kept;
  for (const Record& record : decoded(*stage.journal.read(stage.id, 0, SIZE_MAX))) {
    const auto* const reply = std::get_if<ModelReplied>(&record.event);
    if (reply == nullptr) continue;
    for (const Block& block : reply->blocks) {
      if (const auto* raw = std::get_if<RawBlock>(&block)) kept += *raw->json.bytes() + "\n";
    }
  }
  CHECK(kept.find("a is outside of what create_file may write: /w/out, /srv") != std::string::npos);
  CHECK(kept.find("did it") != kept.rfind("did it"));
}

TEST_CASE("an executor's MCP server that has the name of a tool is refused, and nobody is asked") {
  for (const char* const tool : {"mine", "mine__read"}) {
    LoopStage stage(tool);
    stage.executor->server = McpServerConfig{"mine", {"serve"}, ""};
    const Status started = stage.start();
    REQUIRE(!started);
    CHECK(started.error().message.find("MCP server mine") != std::string::npos);
    CHECK(stage.executor->phases == 0);
  }
  LoopStage nameless("shell");
  nameless.executor->server = McpServerConfig{"", {"serve"}, ""};
  CHECK(!nameless.start());
  LoopStage other("minesweeper");
  other.executor->server = McpServerConfig{"mine", {"serve"}, ""};
  CHECK(other.start());
  CHECK(other.executor->phases == 1);
}

}  // namespace
}  // namespace pawl
