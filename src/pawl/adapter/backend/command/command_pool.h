// Threads for commands: one for each that runs, because a command's thread must live as long as the
// command does (see child_process.h).
//
// Threads are started when they are needed and stay until the pool is destroyed. All signals that
// can be are blocked in them, so that they take none of the host's. The process that owns a pool is
// a child subreaper from then on (see process_tree.h).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kCommandsRunningMax = 256;
inline constexpr std::size_t kCommandsQueuedMax = 4096;

struct CommandPoolLimits {
  std::size_t running_max = kCommandsRunningMax;
  std::size_t queued_max = kCommandsQueuedMax;
};

class CommandPool {
 public:
  class Job {
   public:
    virtual ~Job() = default;
    virtual void run() noexcept = 0;
  };

  explicit CommandPool(CommandPoolLimits limits = {});
  CommandPool(const CommandPool&) = delete;
  CommandPool& operator=(const CommandPool&) = delete;
  // Waits for what runs and drops what waits. Must not be called by one of its own threads.
  ~CommandPool();

  // Runs it as soon as a thread is free, in the order of submission.
  Status submit(std::shared_ptr<Job> job);
  enum class Withdrawn { yes, no };
  // No: it has started, or is over.
  Withdrawn withdraw(const Job& job);

 private:
  void work();
  Status start_thread();  // with the lock held

  const CommandPoolLimits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> queue_;
  std::size_t idle_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pawl
