// Virtual time, and loops that live in it: one for the world, one for each simulated process. All
// run on the caller's thread; what is due first runs first, and the same history runs the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pawl/loop.h"

namespace pawl::sim {

class SimLoop;

class SimClock {
 public:
  // Runs the earliest piece of work of all loops and moves time to it. False: nothing is left.
  bool step();

  std::int64_t monotonic_ms() const { return now_ms_; }
  std::int64_t wall_ms() const { return kWallStartMs + (now_ms_ - kStartMs) + wall_jump_ms_; }
  void jump_wall(std::int64_t delta_ms) { wall_jump_ms_ += delta_ms; }
  // Milliseconds since the history began.
  std::int64_t passed_ms() const { return now_ms_ - kStartMs; }

  // Counts times in 32 bits from here on: a planted bug.
  void overflow_at_32_bits() { narrow_ = true; }
  bool narrow() const { return narrow_; }

 private:
  friend class SimLoop;

  // Shortly before 2^31: who counts milliseconds in 32 bits is found out.
  static constexpr std::int64_t kStartMs = (1LL << 31U) - 20'000;
  static constexpr std::int64_t kWallStartMs = 1'700'000'000'000;

  std::int64_t now_ms_ = kStartMs;
  std::int64_t wall_jump_ms_ = 0;
  std::uint64_t order_ = 0;
  bool narrow_ = false;
  std::vector<SimLoop*> loops_;
};

// Destroying a loop drops all its work unrun, as the death of a process does.
class SimLoop final : public Loop {
 public:
  explicit SimLoop(SimClock& clock);
  ~SimLoop() override;
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  void post(std::function<void()> work) override;
  std::unique_ptr<Timer> after(std::int64_t delay_ms, std::function<void()> due) override;
  std::int64_t wall_ms() const override { return clock_.wall_ms(); }
  std::int64_t monotonic_ms() const override { return clock_.monotonic_ms(); }

  // Like after(), for work that nobody cancels.
  void at(std::int64_t delay_ms, std::function<void()> work);
  // Drops all work unrun.
  void clear();
  // A stopped process runs nothing until it is continued.
  void stop() { stopped_ = true; }
  void go_on() { stopped_ = false; }
  bool stopped() const { return stopped_; }

 private:
  friend class SimClock;

  struct Item {
    std::int64_t due_ms = 0;
    std::uint64_t order = 0;
    std::function<void()> work;
    std::shared_ptr<bool> wanted;  // null: always
  };
  static bool later(const Item& a, const Item& b);
  void push(std::int64_t due_ms, std::function<void()> work, std::shared_ptr<bool> wanted);
  void drop_unwanted();

  SimClock& clock_;
  std::vector<Item> items_;  // a heap, earliest first
  bool stopped_ = false;
};

}  // namespace pawl::sim
