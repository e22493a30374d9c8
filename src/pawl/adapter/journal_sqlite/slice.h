// How much of a transaction one slice of long work may take, so that it stands between other runs'
// commits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pawl::sqlite {

struct SliceBudget {
  std::int64_t ms_max = 15;
  std::uint64_t rows_max = 1'000;       // that are deleted or emptied
  std::uint64_t bytes_max = 4U << 20U;  // of content; the last row may go beyond it
  std::uint64_t pages_max = 256;        // given back
};

// How long to leave the store to others after a slice that took so long. Another process looks
// whether it may write once a millisecond.
constexpr std::int64_t pause_ms(std::int64_t took_ms) {
  constexpr std::int64_t kPauseMsMin = 3;
  constexpr std::int64_t kPauseMsMax = 100;
  return std::clamp(took_ms, kPauseMsMin, kPauseMsMax);
}

// How much of a budget is left.
class Spending {
 public:
  explicit Spending(const SliceBudget& budget)
      : budget_(budget),
        until_(std::chrono::steady_clock::now() + std::chrono::milliseconds(budget.ms_max)) {}

  void row(std::uint64_t bytes) {
    ++rows_;
    bytes_ += bytes;
  }
  bool is_over() const {
    return rows_ >= budget_.rows_max || bytes_ >= budget_.bytes_max || out_of_time();
  }
  bool out_of_time() const { return std::chrono::steady_clock::now() >= until_; }

 private:
  const SliceBudget& budget_;
  std::chrono::steady_clock::time_point until_;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace pawl::sqlite
