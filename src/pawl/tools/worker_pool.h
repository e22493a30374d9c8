// Threads for tools that block. Bounded in threads and in work that waits.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pawl {

class WorkerPool {
 public:
  static constexpr std::size_t kThreadsMax = 16;
  static constexpr std::size_t kWaitingMax = 10'000;

  WorkerPool() = default;
  ~WorkerPool();  // waits for what runs; what waits is dropped
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when too much waits already. Threads start when there is work for them.
  [[nodiscard]] bool submit(std::function<void()> work);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool closing_ = false;
};

}  // namespace pawl
