#include "pawl/tools/worker_pool.h"

namespace pawl {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    waiting_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::submit(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kWaitingMax) return false;
    waiting_.push_back(std::move(work));
    if (idle_ < waiting_.size() && threads_.size() < kThreadsMax) {
      threads_.emplace_back([this] { serve(); });
    }
  }
  wake_.notify_one();
  return true;
}

void WorkerPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    --idle_;
    if (closing_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace pawl
