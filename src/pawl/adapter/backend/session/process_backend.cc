#include "pawl/adapter/backend/session/process_backend.h"

#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "pawl/adapter/backend/sandbox/confinement.h"
#include "pawl/adapter/backend/session/session_core.h"
#include "pawl/adapter/backend/session/session_thread.h"

namespace pawl::backend {
namespace {

using tool_command::Fd;
using CoreResult = Result<std::shared_ptr<SessionCore>>;

BackendOutcome aborted(IsolationLevel level) {
  BackendOutcome outcome;
  outcome.kind = BackendOutcome::Kind::aborted;
  outcome.level = level;
  outcome.output = "[The call was aborted before it began, or the session has ended.]";
  outcome.output_length = outcome.output.size();
  return outcome;
}

class ProcessSession final : public BackendSession {
 public:
  ProcessSession(Loop& loop, std::shared_ptr<SessionThread> thread,
                 std::shared_ptr<SessionCore> core)
      : loop_(loop), thread_(std::move(thread)), core_(std::move(core)) {}

  const ExecutionContext& context() const override { return core_->context(); }
  IsolationLevel level() const override { return core_->level(); }

  std::unique_ptr<Operation> bash(ShellCommand command, Done done) override {
    return call([core = core_, command = std::move(command)](
                    const Fd& stop) { return core->bash(command, stop); },
                std::move(done));
  }
  std::unique_ptr<Operation> exec(ShellCommand command, Done done) override {
    return call([core = core_, command = std::move(command)](
                    const Fd& stop) { return core->exec(command, stop); },
                std::move(done));
  }
  std::unique_ptr<Operation> view(std::string path, std::optional<ViewRange> range,
                                  Done done) override {
    return call([core = core_, path = std::move(path),
                 range](const Fd&) { return core->view(path, range); },
                std::move(done));
  }
  std::unique_ptr<Operation> create_file(FileWrite write, Done done) override {
    return call(
        [core = core_, write = std::move(write)](const Fd&) { return core->create_file(write); },
        std::move(done));
  }
  std::unique_ptr<Operation> str_replace(StrReplace edit, Done done) override {
    return call(
        [core = core_, edit = std::move(edit)](const Fd&) { return core->str_replace(edit); },
        std::move(done));
  }
  std::unique_ptr<Operation> file_request(FileRequest request, Done done) override {
    return call([core = core_,
                 request = std::move(request)](const Fd&) { return core->file_request(request); },
                std::move(done));
  }
  std::unique_ptr<Operation> cleanup(std::function<void(Status)> done) override {
    auto work = std::make_shared<AnsweredWork<Status>>(
        loop_, [core = core_](const Fd&) { return core->cleanup(); },
        Error{ErrorCode::conflict, "the session has ended before"}, std::move(done));
    thread_->finish(work);
    return std::make_unique<SessionOperation<Status>>(thread_, std::move(work));
  }

 private:
  std::unique_ptr<Operation> call(std::function<BackendOutcome(const Fd&)> perform, Done done) {
    auto work = std::make_shared<AnsweredWork<BackendOutcome>>(loop_, std::move(perform),
                                                               aborted(level()), std::move(done));
    thread_->submit(work);
    return std::make_unique<SessionOperation<BackendOutcome>>(thread_, std::move(work));
  }

  Loop& loop_;
  std::shared_ptr<SessionThread> thread_;
  std::shared_ptr<SessionCore> core_;
};

class ProcessBackend final : public Backend {
 public:
  ProcessBackend(std::string_view name, IsolationLevel level, Loop& loop, BackendOptions options)
      : name_(name), level_(level), loop_(loop), options_(std::move(options)) {}

  std::string_view name() const override { return name_; }

  // By making a sandbox and running a program in it: what a kernel says about itself is not enough.
  Result<IsolationLevel> probe() override {
    sandbox::SandboxPlan plan;
    plan.level = level_;
    plan.working_directory = "/usr";
    plan.read_roots = {"/usr"};
    PAWL_TRY(auto place, sandbox::Confinement::prepare(std::move(plan)));
    sandbox::ProcessStart start;
    start.argv = {"/bin/true"};
    PAWL_TRY(auto process, RunningProcess::start(place, std::move(start)));
    return level_;
  }

  std::unique_ptr<Operation> init(
      ExecutionContext context,
      std::function<void(Result<std::shared_ptr<BackendSession>>)> done) override {
    auto thread = std::make_shared<SessionThread>();
    auto open = [context = std::move(context), level = level_, options = options_](const Fd&) {
      return SessionCore::open(context, level, options.open_files, options.connect_proxy);
    };
    auto opened = [&loop = loop_, thread, done = std::move(done)](CoreResult core) {
      if (!core) return done(std::move(core).error());
      done(std::shared_ptr<BackendSession>(
          std::make_shared<ProcessSession>(loop, thread, *std::move(core))));
    };
    auto work = std::make_shared<AnsweredWork<CoreResult>>(
        loop_, std::move(open), Error{ErrorCode::cancelled, "aborted"}, std::move(opened));
    thread->submit(work);
    return std::make_unique<SessionOperation<CoreResult>>(std::move(thread), std::move(work));
  }

 private:
  std::string_view name_;
  IsolationLevel level_;
  Loop& loop_;
  BackendOptions options_;
};

std::unique_ptr<Backend> make(std::string_view name, IsolationLevel level, Loop& loop,
                              BackendOptions options) {
  return std::make_unique<ProcessBackend>(name, level, loop, std::move(options));
}

}  // namespace

std::unique_ptr<Backend> make_local_backend(Loop& loop, BackendOptions options) {
  return make("local", IsolationLevel::none, loop, std::move(options));
}

std::unique_ptr<Backend> make_landlock_backend(Loop& loop, BackendOptions options) {
  return make("landlock", IsolationLevel::landlock, loop, std::move(options));
}

std::unique_ptr<Backend> make_namespace_backend(Loop& loop, BackendOptions options) {
  return make("namespace", IsolationLevel::namespaces, loop, std::move(options));
}

}  // namespace pawl::backend
