// How the outcomes of jobs come back to the loop, and what becomes of the jobs.
//
// Waking a thread takes a good part of a fast sync. So while many runs wait for one, and where it
// pays (see watch_choice.h), the loop does not go to sleep: it looks for the answers between
// whatever else it has to do, for a short time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "pawl/adapter/journal_sqlite/append_order.h"
#include "pawl/adapter/journal_sqlite/job.h"
#include "pawl/adapter/journal_sqlite/watch_choice.h"
#include "pawl/loop.h"

namespace pawl::sqlite {

class Answers {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kWatchedJobsMin = 24;  // of a round that is worth it
  // A loop that watched in vain for so long sleeps; answers that took longer are not watched for.
  static constexpr std::chrono::microseconds kWatchMax{800};
  static constexpr std::chrono::microseconds kLook{4};  // at once, before others have their turn
  static constexpr std::size_t kSpareMax = 256;         // jobs that are kept to be filled again
  // Jobs that are answered in one callback: what their runs do then takes some 30 us each.
  static constexpr std::size_t kAnsweredAtOnce = 8;

  enum class Watching : std::uint8_t { where_it_pays, always };  // always: of large rounds

  Answers(Loop& loop, AppendOrder& order, Watching watching = Watching::where_it_pays)
      : loop_(loop), order_(order), watching_(watching) {}
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  // Any thread. Each job has its outcome. Groups are answered in the order in which they are given.
  void give(Group group);
  // Loop thread only, as all that follows.
  std::unique_ptr<Entry> new_entry(Job job);
  // The loop has given all it had, so many jobs, and has nothing to do but to wait.
  void expect(std::size_t jobs);
  // Rises with every callback that answers. Whoever is to act behind all answers, and what they led
  // to, looks whether it has risen while it came around.
  std::uint64_t times_answered() const { return times_answered_; }
  bool is_watching() const;
  // Large rounds are watched for at present.
  bool is_awake() const { return choice_.watches() || watching_ == Watching::always; }
  // Is told of every record that was committed, before whoever wrote it.
  void on_written(std::function<void(const Written&)> told) { on_written_ = std::move(told); }
  // Nobody is called any more.
  void close();

 private:
  void answer(Group group);
  void answer_some();
  void free_spent();
  void free_spent_later();
  void watch();
  bool look();
  void note_answer();
  bool note_round(std::size_t jobs);

  Loop& loop_;
  AppendOrder& order_;
  const Watching watching_;
  std::function<void(const Written&)> on_written_;
  std::deque<std::unique_ptr<Entry>> due_;  // to be answered, in order
  std::uint64_t times_answered_ = 0;
  Group spent_;  // answered, and not yet freed
  Group spare_;  // to be filled again
  WatchChoice choice_;
  std::optional<Clock::time_point> last_round_;  // when the last large one was over
  bool expecting_ = false;
  Clock::time_point expecting_since_{};
  std::chrono::microseconds last_took_ = kWatchMax;  // from expect() to the answer

  mutable std::mutex mutex_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // watched by posted callbacks
  bool watched_ = false;
  std::vector<Group> ready_;  // while the loop watches, and when nobody is called any more
  std::atomic<bool> any_ready_{false};
};

}  // namespace pawl::sqlite
