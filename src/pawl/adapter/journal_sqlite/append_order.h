// Keeps one run's appends in step: while some of them have not been called back, the failure of one
// fails those behind it. Used by the loop thread and the committer.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace pawl::sqlite {

class AppendOrder {
 public:
  // An append was given.
  void enter(const std::string& run) {
    const std::lock_guard lock(mutex_);
    ++runs_[run].waiting;
  }

  // Its callback is about to be called.
  void leave(const std::string& run) {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(run);
    if (found != runs_.end() && --found->second.waiting == 0) runs_.erase(found);
  }

  void fail(const std::string& run) {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(run);
    if (found != runs_.end()) found->second.failed = true;
  }

  bool has_failed(const std::string& run) const {
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
};

}  // namespace pawl::sqlite
