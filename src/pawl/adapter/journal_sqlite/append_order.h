// Keeps one run's appends in step: while some of them have not been called back, the failure of one
// fails those behind it. Used by the loop thread and the committer.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace pawl::sqlite {

class AppendOrder {
 public:
  // An append was given. True: others of its run wait already.
  bool enter(const std::string& run) {
    const std::lock_guard lock(mutex_);
    return ++runs_[run].waiting > 1;
  }

  // Its callback is about to be called.
  void leave(const std::string& run) {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(run);
    if (found == runs_.end() || --found->second.waiting > 0) return;
    if (found->second.failed) --failed_;
    runs_.erase(found);
  }

  void fail(const std::string& run) {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(run);
    if (found == runs_.end() || std::exchange(found->second.failed, true)) return;
    ++failed_;
  }

  bool has_failed(const std::string& run) const {
    // Almost always, and else the two threads would be in each other's way.
    if (failed_ == 0) return false;
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(run);
    return found != runs_.end() && found->second.failed;
  }

  bool has_waiting(const std::string& run) const {
    const std::lock_guard lock(mutex_);
    return runs_.contains(run);
  }

 private:
  struct Run {
    std::size_t waiting = 0;
    bool failed = false;
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Run> runs_;
  std::atomic<std::size_t> failed_{0};  // runs
};

}  // namespace pawl::sqlite
