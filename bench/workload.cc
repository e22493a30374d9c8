#include "bench/workload.h"

#include <utility>

#include "pawl/testing/executor_scripted/executor_scripted.h"

namespace pawl::bench {
namespace {

// An answer that is on its way, or will never come.
struct Answer : Operation {
  std::shared_ptr<bool> wanted = std::make_shared<bool>(true);
  ~Answer() override { *wanted = false; }
  void abort() override {}
};

class EchoTool : public Tool {
 public:
  EchoTool(Loop& loop, std::size_t bytes) : loop_(loop), bytes_(bytes) {
    spec_.name = "work";
    spec_.effect = EffectClass::pure;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    std::string content;
    content.reserve(bytes_ + invocation.key.size());
    while (content.size() < bytes_) content += invocation.key;
    content.resize(bytes_);
    auto answer = std::make_unique<Answer>();
    loop_.post([wanted = answer->wanted, done = std::move(done), content = std::move(content),
                this]() mutable {
      if (*wanted) done({ToolOutcome::Kind::succeeded, std::move(content), bytes_});
    });
    return answer;
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }

 private:
  Loop& loop_;
  std::size_t bytes_;
  ToolSpec spec_;
};

}  // namespace

PatientTool::PatientTool(Loop& loop) : loop_(loop) {
  spec_.name = "work";
  spec_.effect = EffectClass::pure;
  spec_.timeout_ms = kToolTimeoutMaxMs;
}

std::unique_ptr<Operation> PatientTool::invoke(const ToolInvocation&,
                                               std::function<void(ToolOutcome)> done) {
  ++called_;
  auto answer = std::make_unique<Answer>();
  open_.push_back({answer->wanted, std::move(done)});
  return answer;
}

void PatientTool::answer_open_calls() {
  loop_.post([open = std::exchange(open_, {})] {
    for (const OpenCall& call : open) {
      if (*call.wanted) call.done({ToolOutcome::Kind::succeeded, "done", 4});
    }
  });
}

std::unique_ptr<Operation> PatientTool::status(const ToolInvocation&,
                                               std::function<void(ToolStatus)>) {
  return nullptr;
}

PreparedAgent agent_with(std::shared_ptr<Tool> tool, Loop& loop, std::uint64_t steps, Model model) {
  PreparedAgent agent;
  agent.charter.name = "bench";
  agent.charter.instructions = "x";
  agent.charter.model = "scripted";
  agent.charter.limits.steps = steps;
  agent.charter.limits.model_calls = UINT32_MAX;
  agent.charter.limits.tool_calls = UINT32_MAX;
  agent.charter.limits.tokens = UINT64_MAX / 2;
  agent.charter.limits.bytes_in = UINT64_MAX / 2;
  agent.charter.limits.bytes_out = UINT64_MAX / 2;
  agent.charter.limits.time_ms = UINT32_MAX;
  Script script;
  script.replies = {ScriptReply::call("work", R"({"n":{{n}}})")};
  script.after_last = Script::AfterLast::repeats_last;
  if (model == Model::blind) script.replies.front().usage = Usage{1200, 60, 0, 0};
  agent.executor = make_scripted_executor(script, loop);
  agent.tools = {std::move(tool)};
  return agent;
}

std::shared_ptr<Tool> make_echo_tool(Loop& loop, std::size_t bytes) {
  return std::make_shared<EchoTool>(loop, bytes);
}

}  // namespace pawl::bench
