#include "pawl/adapter/backend/session/native_backend.h"

#include <poll.h>

#include <exception>
#include <utility>

#include "pawl/adapter/backend/command/output_capture.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/adapter/backend/session/session_calls.h"
#include "pawl/base/utf8.h"

namespace pawl::backend {
namespace {

BackendOutcome failure(std::string why) {
  BackendOutcome outcome;
  outcome.output = std::move(why);
  return outcome;
}

class NativeCalls final : public SessionCalls {
 public:
  NativeCalls(ExecutionContext context, std::unique_ptr<SessionFiles> files,
              NativeFunctions functions)
      : context_(std::move(context)), files_(std::move(files)), functions_(std::move(functions)) {}

  const ExecutionContext& context() const override { return context_; }
  IsolationLevel level() const override { return IsolationLevel::native; }
  BackendOutcome bash(const ShellCommand& command, const Descriptor& stop) override {
    return run(functions_.bash, command, stop);
  }
  BackendOutcome exec(const ShellCommand& command, const Descriptor& stop) override {
    return run(functions_.exec, command, stop);
  }
  BackendOutcome view(const std::string& path, std::optional<ViewRange> range) override {
    return levelled(files_->view(path, range, context_.limits.output_bytes));
  }
  BackendOutcome create_file(const FileWrite& write) override {
    return levelled(files_->create_file(write));
  }
  BackendOutcome str_replace(const StrReplace& edit) override {
    return levelled(files_->str_replace(edit));
  }
  BackendOutcome file_request(const FileRequest& request) override {
    return levelled(files_->file_request(request, context_.limits.output_bytes));
  }
  Status cleanup() override { return ok(); }

 private:
  static BackendOutcome levelled(BackendOutcome outcome) {
    outcome.level = IsolationLevel::native;
    return outcome;
  }

  // The host's code may throw and may say too much; neither gets further than here.
  BackendOutcome run(const NativeFunction& function, const ShellCommand& command,
                     const Descriptor& stop) {
    if (!function) {
      return levelled(failure("this host runs no commands (its backend is `native`)"));
    }
    files_->must_look();  // the host has threads of its own
    files_->note();
    const auto stopped = [number = stop.number()] {
      pollfd ready{number, POLLIN, 0};
      return ::poll(&ready, 1, 0) > 0;
    };
    BackendOutcome outcome;
    try {
      outcome = function(context_, command, stopped);
    } catch (const std::exception& error) {
      outcome = failure(error.what());
    }
    const std::string whole = to_valid_utf8(outcome.output);
    outcome.output_length = whole.size();
    outcome.output = tool_command::render_text(whole, context_.limits.output_bytes).text;
    files_->must_look();
    outcome.files = files_->changes();
    return levelled(std::move(outcome));
  }

  ExecutionContext context_;
  std::unique_ptr<SessionFiles> files_;
  NativeFunctions functions_;
};

}  // namespace

std::unique_ptr<Backend> make_native_backend(Loop& loop, BackendOptions options,
                                             NativeFunctions functions) {
  ThreadedBackendParts parts;
  parts.name = "native";
  parts.probe = [] { return Result<IsolationLevel>(IsolationLevel::native); };
  parts.open = [options = std::move(options), functions = std::move(functions)](
                   const ExecutionContext& context) -> Result<std::shared_ptr<SessionCalls>> {
    PAWL_CHECK(sandbox::make_sandbox_plan(context, IsolationLevel::native));
    ExecutionContext completed = context;
    if (completed.limits.output_bytes == 0) {
      completed.limits.output_bytes = BackendLimits().output_bytes;
    }
    PAWL_TRY(auto files, options.open_files(completed));
    return std::shared_ptr<SessionCalls>(
        std::make_shared<NativeCalls>(std::move(completed), std::move(files), functions));
  };
  return make_threaded_backend(loop, std::move(parts));
}

}  // namespace pawl::backend
