#include "pawl/tools/session_command.h"

#include "pawl/json.h"

namespace pawl {
namespace {

using Kind = BackendOutcome::Kind;

// What the command's processes are told about the call.
std::map<std::string, std::string> variables_of(const ToolInvocation& invocation,
                                                const std::string& tool) {
  std::map<std::string, std::string> variables = variables_of(invocation.on_behalf);
  variables["PAWL_KEY"] = invocation.key;
  variables["PAWL_RUN"] = invocation.run.text;
  variables["PAWL_CALL"] = to_string(invocation.call);
  variables["PAWL_ATTEMPT"] = std::to_string(invocation.attempt);
  variables["PAWL_TOOL"] = tool;
  return variables;
}

ToolOutcome outcome_of(BackendOutcome outcome) {
  ToolOutcome made;
  // A command that was ended by a limit had no chance to say what it had done.
  made.kind = tool_kind(outcome.kind, ToolOutcome::Kind::aborted);
  made.content_length = outcome.output_length;
  made.level = std::string(name(outcome.level));
  made.content = std::move(outcome.output);
  if (outcome.kind == Kind::ok) return made;
  std::string why(name(outcome.kind));
  if (outcome.exit_code) why += ", exit code " + std::to_string(*outcome.exit_code);
  made.content = "[" + why + "] " + made.content;
  made.content_length += why.size() + 3;
  return made;
}

// What status commands print: {"outcome": "done" | "absent" | "unknown", "result": …}.
ToolStatus status_of_text(const BackendOutcome& outcome) {
  if (outcome.kind != Kind::ok) {
    return {ToolStatus::Kind::unknown, "asking failed: " + outcome.output};
  }
  const auto json = parse_json(outcome.output);
  const Json* word = json && json->is_object() ? json->object().find("outcome") : nullptr;
  if (word == nullptr || !word->is_string()) {
    return {ToolStatus::Kind::unknown, "the status command has printed no outcome"};
  }
  const Json* result = json->object().find("result");
  std::string text;
  if (result != nullptr) text = result->is_string() ? result->string() : write_json(*result);
  if (word->string() == "done") return {ToolStatus::Kind::done, std::move(text)};
  if (word->string() == "absent") return {ToolStatus::Kind::absent, std::move(text)};
  return {ToolStatus::Kind::unknown, text.empty() ? "the status command does not know" : text};
}

// Waits for the session, then for the command in it.
class Running final : public Operation, public std::enable_shared_from_this<Running> {
 public:
  using Done = std::function<void(BackendOutcome)>;
  Running(Loop& loop, Done done) : loop_(loop), done_(std::move(done)) {}

  void begin(const ToolInvocation& invocation, const BackendSessions& sessions,
             ShellCommand command) {
    sessions(invocation, [weak = weak_from_this(), command = std::move(command)](auto session) {
      if (const auto self = weak.lock()) self->on_session(std::move(session), command);
    });
  }
  void abort() override {
    if (operation_) return operation_->abort();
    stopped_ = true;
    tell({Kind::aborted, "stopped before it had begun", 0, {}, {}, {}, {}});
  }

 private:
  void on_session(Result<std::shared_ptr<BackendSession>> session, const ShellCommand& command) {
    if (stopped_) return;
    if (!session) return tell({Kind::failed, session.error().message, 0, {}, {}, {}, {}});
    session_ = *std::move(session);
    operation_ = session_->exec(command, [weak = weak_from_this()](BackendOutcome outcome) {
      if (const auto self = weak.lock()) self->tell(std::move(outcome));
    });
  }
  void tell(BackendOutcome outcome) {
    loop_.post([weak = weak_from_this(), outcome = std::move(outcome)] {
      const auto self = weak.lock();
      if (self && self->done_) std::exchange(self->done_, {})(outcome);
    });
  }

  Loop& loop_;
  Done done_;
  bool stopped_ = false;
  std::shared_ptr<BackendSession> session_;
  std::unique_ptr<Operation> operation_;
};

class Handle final : public Operation {
 public:
  explicit Handle(std::shared_ptr<Running> running) : running_(std::move(running)) {}
  void abort() override { running_->abort(); }

 private:
  std::shared_ptr<Running> running_;
};

class SessionCommandTool final : public Tool {
 public:
  SessionCommandTool(SessionCommand command, Loop& loop, BackendSessions sessions)
      : command_(std::move(command)), loop_(loop), sessions_(std::move(sessions)) {}

  const ToolSpec& spec() const override { return command_.tool; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    return run(invocation, command_.command, [done = std::move(done)](BackendOutcome outcome) {
      done(outcome_of(std::move(outcome)));
    });
  }
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    return run(invocation, command_.status, [done = std::move(done)](const BackendOutcome& said) {
      done(status_of_text(said));
    });
  }

 private:
  std::unique_ptr<Operation> run(const ToolInvocation& invocation,
                                 const std::vector<std::string>& argv, Running::Done done) {
    ShellCommand command;
    command.argv = argv;
    command.input = invocation.input;
    command.time_ms = command_.tool.timeout_ms;
    command.environment = variables_of(invocation, command_.tool.name);
    const auto running = std::make_shared<Running>(loop_, std::move(done));
    running->begin(invocation, sessions_, std::move(command));
    return std::make_unique<Handle>(running);
  }

  SessionCommand command_;
  Loop& loop_;
  BackendSessions sessions_;
};

}  // namespace

std::shared_ptr<Tool> make_session_command(SessionCommand command, Loop& loop,
                                           BackendSessions sessions) {
  return std::make_shared<SessionCommandTool>(std::move(command), loop, std::move(sessions));
}

}  // namespace pawl
