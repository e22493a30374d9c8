#include "pawl/tools/common_tools.h"

#include "pawl/base/thrown.h"
#include "pawl/tools/todo.h"
#include "pawl/tools/tool_request.h"
#include "pawl/tools/tool_result.h"

namespace pawl {
namespace {

// A session stops its commands by itself; this much later the call stops them.
constexpr std::int64_t kGraceMs = 2'000;

// One call: first it waits for its session, then for its operation there. Shared with the callbacks
// of both, which hold it weakly: a call that is destroyed hears nothing any more.
class CommonCall : public std::enable_shared_from_this<CommonCall> {
 public:
  CommonCall(Loop& loop, std::shared_ptr<const ToolDescription> tool,
             std::function<void(ToolOutcome)> done)
      : loop_(loop), tool_(std::move(tool)), done_(std::move(done)) {}

  void begin(const ToolInvocation& invocation, const BackendSessions& sessions) {
    auto request = read_request(*tool_, invocation.input, invocation.consent);
    if (!request) return refuse(ToolOutcome::Kind::failed, request.error().message);
    guard_ = loop_.after(tool_->spec.timeout_ms + kGraceMs, [weak = weak_from_this()] {
      if (const auto call = weak.lock()) call->stop(ToolOutcome::Kind::timed_out);
    });
    const auto shared = std::make_shared<BackendRequest>(*std::move(request));
    try {
      sessions(invocation, [weak = weak_from_this(), shared](auto session) {
        if (const auto call = weak.lock()) call->on_session(std::move(session), shared);
      });
    } catch (...) {  // The host's own function threw: nothing has run.
      refuse(ToolOutcome::Kind::failed, "no session: " + what_was_thrown());
    }
  }

  void stop(ToolOutcome::Kind why) {
    if (!done_) return;
    if (stopped_ == Stopped::no) {
      stopped_ = why == ToolOutcome::Kind::timed_out ? Stopped::timed_out : Stopped::aborted;
    }
    if (operation_) return operation_->abort();  // it answers when nothing is left of it
    // Nothing has run, which is known: not the doubt that a timeout means elsewhere.
    refuse(why == ToolOutcome::Kind::timed_out ? ToolOutcome::Kind::failed : why,
           "stopped before it had begun: its session was not ready");
  }

 private:
  enum class Stopped : std::uint8_t { no, timed_out, aborted };

  // Never from inside begin(): a caller has its operation before it has its answer.
  void refuse(ToolOutcome::Kind kind, std::string_view why) {
    loop_.post([weak = weak_from_this(), outcome = refused_call(kind, why, *tool_)] {
      if (const auto call = weak.lock()) call->tell(outcome);
    });
  }

  void on_session(Result<std::shared_ptr<BackendSession>> session,
                  const std::shared_ptr<BackendRequest>& request) {
    if (!done_ || stopped_ != Stopped::no || session_) return;
    if (!session) return refuse(ToolOutcome::Kind::failed, session.error().message);
    session_ = *std::move(session);
    operation_ = start_request(*session_, std::move(*request),
                               [weak = weak_from_this()](const BackendOutcome& outcome) {
                                 if (const auto call = weak.lock()) call->on_outcome(outcome);
                               });
    if (!operation_) {
      refuse(ToolOutcome::Kind::failed, "this run's backend has no " + tool_->spec.name);
    }
  }

  void on_outcome(const BackendOutcome& outcome) {
    ToolOutcome made = tool_outcome(outcome, *tool_);
    // It was the call's own clock that stopped it.
    if (stopped_ == Stopped::timed_out && made.kind == ToolOutcome::Kind::aborted) {
      made.kind = ToolOutcome::Kind::timed_out;
    }
    tell(std::move(made));
  }

  void tell(ToolOutcome outcome) {
    if (!done_) return;
    guard_.reset();
    // The operation may be inside its own callback: it goes when the loop comes round.
    loop_.post([keep = std::shared_ptr<Operation>(std::move(operation_)), session = session_] {});
    std::exchange(done_, {})(std::move(outcome));
  }

  Loop& loop_;
  const std::shared_ptr<const ToolDescription> tool_;
  std::function<void(ToolOutcome)> done_;
  std::unique_ptr<Timer> guard_;
  std::shared_ptr<BackendSession> session_;
  std::unique_ptr<Operation> operation_;
  Stopped stopped_ = Stopped::no;
};

class CallOperation : public Operation {
 public:
  explicit CallOperation(std::shared_ptr<CommonCall> call) : call_(std::move(call)) {}
  void abort() override { call_->stop(ToolOutcome::Kind::aborted); }

 private:
  std::shared_ptr<CommonCall> call_;
};

class SessionTool : public Tool {
 public:
  SessionTool(const ToolDescription& description, Loop& loop, BackendSessions sessions)
      : description_(std::make_shared<const ToolDescription>(description)),
        loop_(loop),
        sessions_(std::move(sessions)) {}

  const ToolSpec& spec() const override { return description_->spec; }

  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    auto call = std::make_shared<CommonCall>(loop_, description_, std::move(done));
    call->begin(invocation, sessions_);
    return std::make_unique<CallOperation>(std::move(call));
  }

  std::unique_ptr<Operation> status(const ToolInvocation& /*invocation*/,
                                    std::function<void(ToolStatus)> done) override {
    return answer_later(loop_, std::move(done),
                        ToolStatus{ToolStatus::Kind::unknown, "a session keeps no keys"});
  }

 private:
  const std::shared_ptr<const ToolDescription> description_;
  Loop& loop_;
  const BackendSessions sessions_;
};

}  // namespace

Result<std::shared_ptr<Tool>> make_common_tool(const ToolDescription& description, Loop& loop,
                                               BackendSessions sessions) {
  if (description.tool == CommonTool::ask_user) {
    return Error{ErrorCode::invalid_argument,
                 description.spec.name + " is answered by a person, it cannot be executed"};
  }
  if (description.tool == CommonTool::todo) return make_todo_tool(description.spec, loop);
  return std::shared_ptr<Tool>(
      std::make_shared<SessionTool>(description, loop, std::move(sessions)));
}

std::vector<std::shared_ptr<Tool>> make_common_tools(
    const std::vector<ToolDescription>& descriptions, Loop& loop, const BackendSessions& sessions) {
  std::vector<std::shared_ptr<Tool>> tools;
  for (const ToolDescription& description : descriptions) {
    auto tool = make_common_tool(description, loop, sessions);
    if (tool) tools.push_back(*std::move(tool));
  }
  return tools;
}

}  // namespace pawl
