// The thread of a session, and the backend whose sessions each have one.
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "pawl/adapter/backend/command/process_tree.h"
#include "pawl/adapter/backend/session/session_calls.h"
#include "pawl/base/descriptor.h"

namespace pawl::backend {
namespace {

constexpr std::size_t kCallsQueuedMax = 1024;
constexpr std::int64_t kIdleLookMs = 250;

// One call of a session: on its way to the session's thread, under way there, and back on the loop.
class SessionWork {
 public:
  SessionWork() : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  virtual ~SessionWork() = default;

  virtual void run() = 0;     // on the session's thread
  virtual void refuse() = 0;  // instead of run(): it was aborted before, or the session has ended
  const Descriptor& stop_event() const { return stop_; }
  void stop() const {
    const std::uint64_t one = 1;
    // Fails only when it has been written before, which is as good.
    [[maybe_unused]] const ssize_t written = ::write(stop_.number(), &one, sizeof one);
  }

 private:
  Descriptor stop_;
};

// `done` belongs to the loop thread. The loop may be gone as soon as the operation is, so the lock
// is held while posting to it.
template <class Answer>
class AnsweredWork final : public SessionWork,
                           public std::enable_shared_from_this<AnsweredWork<Answer>> {
 public:
  using Perform = std::function<Answer(const Descriptor& stop)>;
  AnsweredWork(Loop& loop, Perform perform, Answer refusal, std::function<void(Answer)> done)
      : loop_(loop),
        perform_(std::move(perform)),
        refusal_(std::move(refusal)),
        done_(std::move(done)) {}

  void run() override { answer(perform_(stop_event())); }
  void refuse() override { answer(std::move(refusal_)); }

  void drop() {
    auto forgotten = std::exchange(done_, nullptr);
    const std::lock_guard lock(mutex_);
    dropped_ = true;
  }

 private:
  void answer(Answer value) {
    auto deliver = [self = this->shared_from_this(), value = std::move(value)]() mutable {
      if (auto done = std::exchange(self->done_, nullptr)) done(std::move(value));
    };
    const std::lock_guard lock(mutex_);
    if (!dropped_) loop_.post(std::move(deliver));
  }

  Loop& loop_;
  Perform perform_;
  Answer refusal_;
  std::function<void(Answer)> done_;
  std::mutex mutex_;
  bool dropped_ = false;
};

// Performs the calls of one session in the order they were made. What the thread starts dies with
// it, so it lives as long as the session.
class SessionThread {
 public:
  SessionThread();
  // Stops what runs, refuses what waits.
  ~SessionThread();

  // False: too many wait, or the session is over; the work was refused.
  bool submit(std::shared_ptr<SessionWork> work);
  // Asks it to end: refused at once if it still waits, stopped if it runs.
  void abort(const std::shared_ptr<SessionWork>& work);
  // Stops what runs, refuses what waits, and performs `last`; then nothing is taken any more.
  void finish(std::shared_ptr<SessionWork> last);

  // Called on the thread every kIdleLookMs from now on, while it has nothing else to do.
  void while_idle(std::function<void()> look);

 private:
  using Clock = std::chrono::steady_clock;
  void serve();
  void await_work(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<SessionWork>> queue_;
  std::shared_ptr<SessionWork> running_;
  std::function<void()> look_;
  bool closing_ = false;
  std::thread thread_;
};

// What the caller holds of a call. Destroying it stops the call without a word.
template <class Answer>
class SessionOperation final : public Operation {
 public:
  SessionOperation(std::shared_ptr<SessionThread> thread,
                   std::shared_ptr<AnsweredWork<Answer>> work)
      : thread_(std::move(thread)), work_(std::move(work)) {}
  SessionOperation(const SessionOperation&) = delete;
  SessionOperation& operator=(const SessionOperation&) = delete;
  ~SessionOperation() override {
    work_->drop();
    thread_->abort(work_);
  }
  void abort() override { thread_->abort(work_); }

 private:
  std::shared_ptr<SessionThread> thread_;
  std::shared_ptr<AnsweredWork<Answer>> work_;
};

SessionThread::SessionThread() {
  tool_command::adopt_orphans();
  // The thread takes none of the host's signals; SIGPIPE above all is an error code to it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SessionThread::~SessionThread() {
  finish(nullptr);
  thread_.join();
}

bool SessionThread::submit(std::shared_ptr<SessionWork> work) {
  {
    const std::lock_guard lock(mutex_);
    if (!closing_ && queue_.size() < kCallsQueuedMax && work->stop_event()) {
      queue_.push_back(std::move(work));
      changed_.notify_one();
      return true;
    }
  }
  work->refuse();
  return false;
}

void SessionThread::abort(const std::shared_ptr<SessionWork>& work) {
  {
    const std::lock_guard lock(mutex_);
    const auto waiting = std::find(queue_.begin(), queue_.end(), work);
    if (waiting == queue_.end()) {
      if (running_ == work) work->stop();
      return;
    }
    if (closing_) return;  // the last work of all is performed, come what may
    queue_.erase(waiting);
  }
  work->refuse();
}

void SessionThread::finish(std::shared_ptr<SessionWork> last) {
  std::deque<std::shared_ptr<SessionWork>> refused;
  {
    const std::lock_guard lock(mutex_);
    if (!closing_) {
      refused = std::exchange(queue_, {});
      if (running_) running_->stop();
      if (last) queue_.push_back(std::exchange(last, nullptr));
      closing_ = true;
    }
    changed_.notify_one();
  }
  for (const auto& work : refused) work->refuse();
  if (last) last->refuse();
}

void SessionThread::while_idle(std::function<void()> look) {
  const std::lock_guard lock(mutex_);
  look_ = std::move(look);
  changed_.notify_one();
}

void SessionThread::await_work(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [this] { return closing_ || !queue_.empty(); };
  while (!look_ && !has_work()) changed_.wait(lock);
  auto next_look = Clock::now() + std::chrono::milliseconds(kIdleLookMs);
  while (!changed_.wait_until(lock, next_look, has_work)) {
    const std::function<void()> look = look_;
    lock.unlock();
    look();
    lock.lock();
    next_look = Clock::now() + std::chrono::milliseconds(kIdleLookMs);
  }
}

void SessionThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    await_work(lock);
    if (queue_.empty()) return;
    running_ = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    running_->run();
    lock.lock();
    // Its last owner may be this thread: let it go without the lock.
    std::shared_ptr<SessionWork> over = std::move(running_);
    lock.unlock();
    over.reset();
    lock.lock();
  }
}

// --- The backend --------------------------------------------------------------------------------

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
