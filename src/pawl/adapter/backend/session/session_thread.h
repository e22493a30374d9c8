// A thread that performs the calls of one session in the order they were made. What it starts dies
// with it, so it lives as long as the session.
#pragma once

#include <chrono>

#include <sys/eventfd.h>
#include <unistd.h>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include "pawl/base/descriptor.h"
#include "pawl/port/backend.h"
#include "pawl/port/loop.h"

namespace pawl::backend {

inline constexpr std::size_t kCallsQueuedMax = 1024;
inline constexpr std::int64_t kIdleLookMs = 250;

// One call of a session: on its way to the session's thread, under way there, and back on the loop.
class SessionWork {
 public:
  SessionWork() : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  SessionWork(const SessionWork&) = delete;
  SessionWork& operator=(const SessionWork&) = delete;
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

class SessionThread {
 public:
  SessionThread();
  SessionThread(const SessionThread&) = delete;
  SessionThread& operator=(const SessionThread&) = delete;
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

}  // namespace pawl::backend
