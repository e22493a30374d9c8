// A thread that performs the calls of one session in the order they were made. What it starts dies
// with it, so it lives as long as the session.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "pawl/adapter/backend/session/session_work.h"

namespace pawl::backend {

inline constexpr std::size_t kCallsQueuedMax = 1024;
inline constexpr std::int64_t kIdleLookMs = 250;

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
