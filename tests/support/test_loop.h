// A Loop for tests: the test's own thread is the loop thread. Time stands still until the test
// moves it, or, when asked for, is the machine's.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "pawl/loop.h"
#include "tests/support/time_scale.h"

namespace pawl {

class TestLoop final : public Loop {
 public:
  enum class Clock { manual, machine };
  static constexpr std::int64_t kWallStartMs = 1'700'000'000'000;  // a manual clock starts here
  static constexpr std::int64_t kPatienceMs = 60'000;              // of run_until, in real time
  static constexpr int kWorkMax = 10'000'000;  // of one run_* call: a test must end

  explicit TestLoop(Clock clock = Clock::manual) : clock_(clock) {}

  void post(std::function<void()> work) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    arrived_.notify_one();
  }

  std::unique_ptr<Timer> after(std::int64_t delay_ms, std::function<void()> due) override {
    const Key key{monotonic_ms() + delay_ms, ++timers_made_};
    timers_->emplace(key, std::move(due));
    return std::make_unique<PendingTimer>(timers_, key);
  }

  std::int64_t wall_ms() const override { return kWallStartMs + monotonic_ms() + wall_jump_ms_; }

  std::int64_t monotonic_ms() const override {
    return clock_ == Clock::manual ? now_ms_ : machine_ms() - started_ms_;
  }

  // Manual clock only. Runs what falls due on the way, in order, and what that posts.
  void advance(std::int64_t delta_ms) {
    const std::int64_t end_ms = now_ms_ + delta_ms;
    run_posted();
    while (!timers_->empty() && timers_->begin()->first.first <= end_ms) {
      now_ms_ = std::max(now_ms_, timers_->begin()->first.first);
      fire_due();
      run_posted();
    }
    now_ms_ = end_ms;
  }

  // Moves a manual clock to the next timer and runs it. False: there is none.
  bool skip_to_next_timer() {
    run_posted();
    if (timers_->empty()) return false;
    advance(std::max<std::int64_t>(0, timers_->begin()->first.first - now_ms_));
    return true;
  }

  void jump_wall(std::int64_t delta_ms) { wall_jump_ms_ += delta_ms; }

  // Runs what has been posted, and what that posts, until nothing is left.
  void run_posted() {
    for (int count = 0; count < kWorkMax; ++count) {
      std::function<void()> work = take(0);
      if (!work) return;
      work();
    }
  }

  // Runs, and waits for other threads to post, until `done()` holds. False: patience ran out, or
  // too much work. With the machine's clock timers fire on the way; a manual clock is not moved.
  template <class Predicate>
  bool run_until(Predicate done, std::int64_t patience_ms = kPatienceMs) {
    const std::int64_t give_up_ms = machine_ms() + patience_ms * time_scale();
    for (int count = 0; count < kWorkMax; ++count) {
      if (done()) return true;
      const std::int64_t left_ms = give_up_ms - machine_ms();
      if (left_ms <= 0) return false;
      // A timer alone may have made it true: nothing comes after it that one could wait for.
      if (clock_ == Clock::machine && fire_due()) continue;
      if (std::function<void()> work = take(wait_ms(left_ms))) work();
    }
    return false;
  }

  bool idle() const {
    const std::lock_guard lock(mutex_);
    return queue_.empty();
  }
  std::size_t timer_count() const { return timers_->size(); }

 private:
  using Key = std::pair<std::int64_t, std::uint64_t>;  // due, then order of making
  using Timers = std::map<Key, std::function<void()>>;

  // Holds the table weakly: a test may destroy the loop before the last timer.
  class PendingTimer final : public Timer {
   public:
    PendingTimer(std::weak_ptr<Timers> timers, Key key) : timers_(std::move(timers)), key_(key) {}
    ~PendingTimer() override {
      if (const auto timers = timers_.lock()) timers->erase(key_);
    }
    PendingTimer(const PendingTimer&) = delete;
    PendingTimer& operator=(const PendingTimer&) = delete;

   private:
    std::weak_ptr<Timers> timers_;
    Key key_;
  };

  static std::int64_t machine_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  std::int64_t wait_ms(std::int64_t left_ms) const {
    if (clock_ == Clock::manual || timers_->empty()) return left_ms;
    const std::int64_t due_in_ms = timers_->begin()->first.first - monotonic_ms();
    return std::max<std::int64_t>(0, std::min(left_ms, due_in_ms));
  }

  // Whether there was any.
  bool fire_due() {
    const std::int64_t now_ms = monotonic_ms();
    const bool any = !timers_->empty() && timers_->begin()->first.first <= now_ms;
    while (!timers_->empty() && timers_->begin()->first.first <= now_ms) {
      auto due = std::move(timers_->begin()->second);
      timers_->erase(timers_->begin());
      due();
    }
    return any;
  }

  std::function<void()> take(std::int64_t patience_ms) {
    std::unique_lock lock(mutex_);
    const auto has_work = [this] { return !queue_.empty(); };
    if (!arrived_.wait_for(lock, std::chrono::milliseconds(patience_ms), has_work)) return nullptr;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    return work;
  }

  const Clock clock_;
  const std::int64_t started_ms_ = machine_ms();
  std::int64_t now_ms_ = 0;
  std::int64_t wall_jump_ms_ = 0;
  std::uint64_t timers_made_ = 0;
  std::shared_ptr<Timers> timers_ = std::make_shared<Timers>();

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> queue_;
};

}  // namespace pawl
