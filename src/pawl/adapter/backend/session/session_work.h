// One call of a session: on its way to the session's thread, under way there, and back on the loop.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "pawl/base/descriptor.h"
#include "pawl/port/backend.h"
#include "pawl/port/loop.h"

namespace pawl::backend {

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

}  // namespace pawl::backend
