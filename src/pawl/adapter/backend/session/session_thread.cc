#include "pawl/adapter/backend/session/session_thread.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "pawl/adapter/backend/command/process_tree.h"

namespace pawl::backend {

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

}  // namespace pawl::backend
