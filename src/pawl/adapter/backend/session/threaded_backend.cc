#include <utility>

#include "pawl/adapter/backend/session/session_calls.h"
#include "pawl/adapter/backend/session/session_thread.h"

namespace pawl::backend {
namespace {

using CallsResult = Result<std::shared_ptr<SessionCalls>>;
using SessionResult = Result<std::shared_ptr<BackendSession>>;

BackendOutcome aborted(IsolationLevel level) {
  BackendOutcome outcome;
  outcome.kind = BackendOutcome::Kind::aborted;
  outcome.level = level;
  outcome.output = "[The call was aborted before it began, or the session has ended.]";
  outcome.output_length = outcome.output.size();
  return outcome;
}

class ThreadedSession final : public BackendSession {
 public:
  ThreadedSession(Loop& loop, std::shared_ptr<SessionThread> thread,
                  std::shared_ptr<SessionCalls> calls)
      : loop_(loop), thread_(std::move(thread)), calls_(std::move(calls)) {}

  const ExecutionContext& context() const override { return calls_->context(); }
  IsolationLevel level() const override { return calls_->level(); }

  std::unique_ptr<Operation> bash(ShellCommand command, Done done) override {
    return call([calls = calls_, command = std::move(command)](
                    const Descriptor& stop) { return calls->bash(command, stop); },
                std::move(done));
  }
  std::unique_ptr<Operation> exec(ShellCommand command, Done done) override {
    return call([calls = calls_, command = std::move(command)](
                    const Descriptor& stop) { return calls->exec(command, stop); },
                std::move(done));
  }
  std::unique_ptr<Operation> view(std::string path, std::optional<ViewRange> range,
                                  Done done) override {
    return call([calls = calls_, path = std::move(path),
                 range](const Descriptor&) { return calls->view(path, range); },
                std::move(done));
  }
  std::unique_ptr<Operation> create_file(FileWrite write, Done done) override {
    return call([calls = calls_,
                 write = std::move(write)](const Descriptor&) { return calls->create_file(write); },
                std::move(done));
  }
  std::unique_ptr<Operation> str_replace(StrReplace edit, Done done) override {
    return call([calls = calls_,
                 edit = std::move(edit)](const Descriptor&) { return calls->str_replace(edit); },
                std::move(done));
  }
  std::unique_ptr<Operation> file_request(FileRequest request, Done done) override {
    return call([calls = calls_, request = std::move(request)](
                    const Descriptor&) { return calls->file_request(request); },
                std::move(done));
  }
  std::unique_ptr<Operation> cleanup(std::function<void(Status)> done) override {
    auto work = std::make_shared<AnsweredWork<Status>>(
        loop_, [calls = calls_](const Descriptor&) { return calls->cleanup(); },
        Error{ErrorCode::conflict, "the session has ended before"}, std::move(done));
    thread_->finish(work);
    return std::make_unique<SessionOperation<Status>>(thread_, std::move(work));
  }

 private:
  std::unique_ptr<Operation> call(std::function<BackendOutcome(const Descriptor&)> perform,
                                  Done done) {
    auto work = std::make_shared<AnsweredWork<BackendOutcome>>(loop_, std::move(perform),
                                                               aborted(level()), std::move(done));
    thread_->submit(work);
    return std::make_unique<SessionOperation<BackendOutcome>>(thread_, std::move(work));
  }

  Loop& loop_;
  std::shared_ptr<SessionThread> thread_;
  std::shared_ptr<SessionCalls> calls_;
};

class ThreadedBackend final : public Backend {
 public:
  ThreadedBackend(Loop& loop, ThreadedBackendParts parts) : loop_(loop), parts_(std::move(parts)) {}

  std::string_view name() const override { return parts_.name; }
  Result<IsolationLevel> probe() override { return parts_.probe(); }
  int landlock() override { return parts_.landlock ? parts_.landlock() : 0; }
  Status admits(const ExecutionContext& context) override {
    return parts_.admits ? parts_.admits(context) : ok();
  }

  std::unique_ptr<Operation> init(ExecutionContext context,
                                  std::function<void(SessionResult)> done) override {
    auto thread = std::make_shared<SessionThread>();
    // On that thread, so it is there.
    auto open = [context = std::move(context), open = parts_.open,
                 &own = *thread](const Descriptor&) {
      auto calls = open(context);
      if (!calls) return calls;
      own.while_idle([weak = std::weak_ptr<SessionCalls>(*calls)] {
        if (const auto alive = weak.lock()) alive->look_around();
      });
      return calls;
    };
    auto opened = [&loop = loop_, thread, done = std::move(done)](CallsResult calls) {
      if (!calls) return done(std::move(calls).error());
      done(std::shared_ptr<BackendSession>(
          std::make_shared<ThreadedSession>(loop, thread, *std::move(calls))));
    };
    auto work = std::make_shared<AnsweredWork<CallsResult>>(
        loop_, std::move(open), Error{ErrorCode::cancelled, "aborted"}, std::move(opened));
    thread->submit(work);
    return std::make_unique<SessionOperation<CallsResult>>(std::move(thread), std::move(work));
  }

 private:
  Loop& loop_;
  ThreadedBackendParts parts_;
};

}  // namespace

std::unique_ptr<Backend> make_threaded_backend(Loop& loop, ThreadedBackendParts parts) {
  return std::make_unique<ThreadedBackend>(loop, std::move(parts));
}

}  // namespace pawl::backend
