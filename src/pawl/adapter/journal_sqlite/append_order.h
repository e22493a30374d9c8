// Keeps one run's appends in step: while some of them have not been called back, the failure of one
// fails those behind it. Used by the loop thread and the committer.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pawl::sqlite {

class AppendOrder {
 public:
  // An append was given. True: others of its run wait already.
  bool enter(const std::string& run) {
    const std::lock_guard lock(mutex_);
    auto found = runs_.find(run);
    if (found == runs_.end()) found = add(run);
    return ++found->second.waiting > 1;
  }

  // Its callback is about to be called.
  void leave(const std::string& run) {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(run);
    if (found == runs_.end() || --found->second.waiting > 0) return;
    if (found->second.failed) --failed_;
    auto left = runs_.extract(found);
    if (spare_.size() < kSpareMax) spare_.push_back(std::move(left));
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

  using Runs = std::unordered_map<std::string, Run>;
  static constexpr std::size_t kSpareMax = 256;

  Runs::iterator add(const std::string& run) {
    if (spare_.empty()) return runs_.try_emplace(run).first;
    Runs::node_type node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = run;
    node.mapped() = Run();
    return runs_.insert(std::move(node)).position;
  }

  mutable std::mutex mutex_;
  Runs runs_;
  std::vector<Runs::node_type> spare_;  // of runs that have left: the next one needs no memory
  std::atomic<std::size_t> failed_{0};  // runs
};

}  // namespace pawl::sqlite
