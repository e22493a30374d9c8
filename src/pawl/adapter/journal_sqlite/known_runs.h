// What the writer knows of rows of `runs`, so that an append need not look its run up. It holds as
// long as nobody else writes; whatever else changes such rows makes it forget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace pawl::sqlite {

// Of a run that has been appended to: its `loads` are zero.
struct KnownRun {
  std::int64_t no = 0;
  std::uint64_t epoch = 0;
  std::uint64_t length = 0;    // records
  std::uint64_t messages = 0;  // in its inbox
};

class KnownRuns {
 public:
  static constexpr std::size_t kRunsMax = 4'096;  // with more all are forgotten

  // Null: to be looked up. Good until the next call of keep() or forget().
  KnownRun* find(const std::string& run) {
    const auto found = runs_.find(run);
    return found == runs_.end() ? nullptr : &found->second;
  }
  void keep(const std::string& run, KnownRun known) {
    if (runs_.size() >= kRunsMax) runs_.clear();
    runs_[run] = known;
  }
  void forget() { runs_.clear(); }
  void forget(const std::string& run) { runs_.erase(run); }

 private:
  std::unordered_map<std::string, KnownRun> runs_;
};

}  // namespace pawl::sqlite
