#include "pawl/adapter/backend/command/command_pool.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include "pawl/adapter/backend/command/process_tree.h"

namespace pawl {
namespace {

// For the thread that is created in its scope, which inherits the mask.
class HostSignalsBlocked {
 public:
  HostSignalsBlocked() {
    sigset_t mask;
    ::sigfillset(&mask);
    // These report a fault of the thread itself.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
      ::sigdelset(&mask, fault);
    }
    ::pthread_sigmask(SIG_BLOCK, &mask, &before_);
  }
  HostSignalsBlocked(const HostSignalsBlocked&) = delete;
  HostSignalsBlocked& operator=(const HostSignalsBlocked&) = delete;
  ~HostSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

CommandPool::CommandPool(CommandPoolLimits limits) : limits_(limits) {
  PAWL_ASSERT(limits_.running_max > 0);
  tool_command::adopt_orphans();
}

CommandPool::~CommandPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status CommandPool::submit(std::shared_ptr<Job> job) {
  const std::lock_guard lock(mutex_);
  PAWL_ASSERT(!closing_);
  if (idle_ <= queue_.size() && threads_.size() < limits_.running_max) {
    // Without a new thread the job waits for an old one; only without any it would wait forever.
    if (auto started = start_thread(); !started && threads_.empty()) return started;
  }
  if (queue_.size() >= limits_.queued_max + idle_) {
    return Error{ErrorCode::limit_exceeded,
                 "too many commands: " + std::to_string(threads_.size()) + " are running and " +
                     std::to_string(queue_.size()) + " wait (run fewer at a time)"};
  }
  queue_.push_back(std::move(job));
  changed_.notify_one();
  return ok();
}

CommandPool::Withdrawn CommandPool::withdraw(const Job& job) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const auto& queued) { return queued.get() == &job; });
  if (found == queue_.end()) return Withdrawn::no;
  queue_.erase(found);
  return Withdrawn::yes;
}

Status CommandPool::start_thread() {
  const HostSignalsBlocked blocked;
  try {
    threads_.emplace_back([this] { work(); });
    ++idle_;
  } catch (const std::system_error& error) {
    return Error{ErrorCode::unavailable, std::string("no thread for the command: ") + error.what()};
  }
  return ok();
}

void CommandPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {  // until the pool is destroyed
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (closing_) return;
    std::shared_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    --idle_;
    lock.unlock();
    job->run();
    job.reset();
    lock.lock();
    ++idle_;
  }
}

}  // namespace pawl
