#include <utility>

#include "pawl/backend.h"
#include "pawl/gate/call_gate.h"
#include "pawl/permissions.h"
#include "pawl/tools/common_tools.h"
#include "pawl/tools/run_sessions.h"

namespace pawl {
namespace {

class Execution final : public std::enable_shared_from_this<Execution> {
 public:
  Execution(Loop& loop, ProposedCall call, ExecutionContext context,
            std::shared_ptr<Backend> backend, std::function<void(ToolOutcome)> done)
      : loop_(loop),
        call_(std::move(call)),
        run_(context.run),
        sessions_(std::make_shared<RunSessions>(std::move(backend), std::move(context), nullptr,
                                                nullptr, loop)),
        done_(std::move(done)) {}

  void begin(CallGate& gate) {
    ProposedPlan plan;
    plan.run = run_;
    plan.calls = {call_};
    judging_ = gate.ask(plan, [weak = weak_from_this()](const CallJudgement& judgement) {
      if (const auto self = weak.lock()) self->on_judged(judgement);
    });
  }
  void abort() {
    if (running_) return running_->abort();
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->tell({ToolOutcome::Kind::aborted, "stopped before it had begun", 0});
      }
    });
  }

 private:
  void on_judged(const CallJudgement& judgement) {
    if (!done_) return;
    if (judgement.verdict != CallVerdict::allow) {
      return fail((judgement.verdict == CallVerdict::ask ? "needs an approval: " : "denied: ") +
                  judgement.reason);
    }
    const auto description = describe_common_tool(call_.tool);
    if (!description) return fail("no common tool is called " + call_.tool);
    auto tool = make_common_tool(*description, loop_, sessions_->source());
    if (!tool) return fail(tool.error().message);
    tool_ = *std::move(tool);
    ToolInvocation invocation;
    invocation.run = run_;
    invocation.input = call_.input;
    running_ = tool_->invoke(invocation, [weak = weak_from_this()](ToolOutcome outcome) {
      if (const auto self = weak.lock()) self->tell(std::move(outcome));
    });
  }
  void fail(const std::string& why) { tell({ToolOutcome::Kind::failed, why, why.size()}); }
  void tell(ToolOutcome outcome) {
    if (!done_) return;
    sessions_->release(run_);
    std::exchange(done_, {})(std::move(outcome));
  }

  Loop& loop_;
  const ProposedCall call_;
  const RunId run_;
  const std::shared_ptr<RunSessions> sessions_;
  std::function<void(ToolOutcome)> done_;
  std::shared_ptr<Tool> tool_;
  std::unique_ptr<Operation> judging_;
  std::unique_ptr<Operation> running_;
};

class ExecutionHandle final : public Operation {
 public:
  explicit ExecutionHandle(std::shared_ptr<Execution> execution)
      : execution_(std::move(execution)) {}
  void abort() override { execution_->abort(); }

 private:
  std::shared_ptr<Execution> execution_;
};

}  // namespace

std::unique_ptr<Operation> execute(Loop& loop, CallGate& gate, const ProposedCall& call,
                                   ExecutionContext context, std::shared_ptr<Backend> backend,
                                   std::function<void(ToolOutcome)> done) {
  auto execution = std::make_shared<Execution>(loop, call, std::move(context), std::move(backend),
                                               std::move(done));
  execution->begin(gate);
  return std::make_unique<ExecutionHandle>(std::move(execution));
}

}  // namespace pawl
