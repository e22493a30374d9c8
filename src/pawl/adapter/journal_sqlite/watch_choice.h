// Whether the loop should stay awake while a round of jobs is committed. It pays where a sync is
// fast and there is a processor to spare, and costs where others want it: which of the two it is
// here is found out by trying both, now and again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pawl::sqlite {

class WatchChoice {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::size_t kTriedRounds = 9;   // each way; the first belongs to neither
  static constexpr std::size_t kKeptRounds = 256;  // then as it was better
  static constexpr std::int64_t kGainPercentMin = 5;

  bool watches() const { return way_ == Way::awake; }

  // A round, from the end of the one before it, took so long.
  void note(Time round) {
    ++rounds_;
    if (phase_ == Phase::kept) {
      if (rounds_ == kKeptRounds) enter(Phase::trying_asleep, Way::asleep);
      return;
    }
    if (rounds_ == 1) return;
    sum_ += round;
    longest_ = std::max(longest_, round);
    if (rounds_ < kTriedRounds) return;
    const Time taken = sum_ - longest_;  // one may have met the log being written back
    if (phase_ == Phase::trying_asleep) {
      asleep_ = taken;
      enter(Phase::trying_awake, Way::awake);
    } else {
      const bool pays = taken * 100 < asleep_ * (100 - kGainPercentMin);
      enter(Phase::kept, pays ? Way::awake : Way::asleep);
    }
  }

 private:
  enum class Phase : std::uint8_t { trying_asleep, trying_awake, kept };
  enum class Way : std::uint8_t { asleep, awake };

  void enter(Phase phase, Way way) {
    phase_ = phase;
    way_ = way;
    rounds_ = 0;
    sum_ = longest_ = Time::zero();
  }

  Phase phase_ = Phase::trying_asleep;
  Way way_ = Way::asleep;
  std::size_t rounds_ = 0;  // of this phase
  Time sum_{};
  Time longest_{};
  Time asleep_{};  // of the rounds that were tried so
};

}  // namespace pawl::sqlite
