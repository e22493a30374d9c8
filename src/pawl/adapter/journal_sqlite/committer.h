// The one thread that writes. It takes what has gathered since the last commit, of however many
// runs, and makes one transaction of it: one sync for all. Callbacks go back to the loop in order.
//
// A job is let go when the loop comes around to it, behind what it had to do already: the runs that
// were called back by one commit have all answered by then, also where they were called back a part
// at a time, and the next commit is of all of them, not of the fastest. Of a large round the first
// parts are let go early: they are written into the open transaction while the loop works on the
// rest, which then joins them before the commit.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pawl/adapter/journal_sqlite/answers.h"
#include "pawl/adapter/journal_sqlite/append_order.h"
#include "pawl/adapter/journal_sqlite/busy_watch.h"
#include "pawl/adapter/journal_sqlite/job.h"
#include "pawl/adapter/journal_sqlite/options.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/adapter/journal_sqlite/store_guard.h"
#include "pawl/adapter/journal_sqlite/transaction.h"
#include "pawl/loop.h"
#include "pawl/result.h"
#include "pawl/store.h"

namespace pawl::sqlite {

class Committer {
 public:
  // Without a guard nothing is marked: a test's.
  Committer(std::unique_ptr<Connection> connection, Loop& loop, const SqliteOptions& options,
            std::unique_ptr<StoreGuard> guard = nullptr);
  // Writes what is queued, then stops; a full disk or a stop before that leaves it unwritten. No
  // callback is called any more.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Loop thread only. `refusal`: the job fails with it when its turn comes.
  void submit(Job job, std::optional<Error> refusal = std::nullopt);
  // Loop thread only: waits for the outcome, at most acquire_wait_ms_max. After unavailable the
  // work may or may not have been done.
  Status run_now(std::function<Status(Connection&)> work);
  // Loop thread only: writes the whole log back into the database and empties it.
  Status checkpoint();

  // Loop thread only: writes the log back as far as it is in nobody's way, and then calls `done` on
  // the loop.
  void write_back_soon(std::function<void()> done);

  // Loop thread only: nothing is written any more, for this reason.
  void refuse(const Error& reason);

  // Loop thread only; see Answers::on_written.
  void on_written(std::function<void(const Written&)> told) {
    answers_.on_written(std::move(told));
  }

  const AppendOrder& order() const { return order_; }

 private:
  void run();
  void come_around(std::uint64_t answered, int times);
  void let_go();
  void let_go_all();
  bool is_early_part(std::size_t jobs) const;
  bool take_group(Group& group);
  bool take_more(Group& group);
  void watch_for_more();
  void take_let_go(Group& group);
  bool must_wait_for_space(const Entry& entry) const;
  bool has_space_for(std::uint64_t bytes) const;
  void hold_back(std::unique_ptr<Entry> entry);
  void take_held_back();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  void commit_group(Group& group);
  Status settle_commit();
  void keep_for_later(Group& group, const Error& error);
  void tell_full();
  void put_behind_others(const std::string& run);
  void refuse_upkeep(Group& group, const Error& error);
  void fail_all(Group& group, const Error& error);
  void stop_for_good(Group& group, const Error& error);
  void deliver(Group& group);
  void deliver_locked(Group& group);
  std::optional<Error> overloaded(const Job& job) const;

  void shorten_log();
  void empty_log();
  Status prepare_write_back();
  Status write_back(int mode);
  void answer_write_backs(const std::vector<std::function<void()>>& answers);
  void answer_checkpoint(const std::shared_ptr<Waiter>& waiter);
  void begin_waiting();
  bool wait_while_busy();

  Loop& loop_;
  const SqliteOptions options_;
  // The loop thread's. A round is what it submits before it comes around.
  bool letting_go_soon_ = false;
  std::size_t round_jobs_ = 0;     // of this round so far
  std::size_t expected_jobs_ = 0;  // of the last one: this one is expected to be like it
  AppendOrder order_;
  Answers answers_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // watched by posted callbacks

  // The committer thread's alone while it runs.
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<StoreGuard> guard_;
  Transaction transaction_;
  std::chrono::steady_clock::time_point busy_since_{};
  BusyWatch busy_;
  bool impatient_ = false;  // a checkpoint that must not wait for anyone
  int log_pages_ = 0;       // in the log after the last commit
  int written_back_ = 0;    // of those, that are in the database
  int write_back_at_ = 0;   // pages

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Entry>> queue_;
  std::size_t let_go_ = 0;     // of the queue, from its front: what may be taken
  bool let_go_early_ = false;  // more of its round is to come
  std::uint64_t rounds_over_ = 0;
  std::optional<std::uint64_t> unfinished_round_;  // of the group that is being written
  std::size_t taken_bytes_ = 0;                    // of that group
  std::atomic<std::uint64_t> times_let_go_{0};
  std::uint64_t times_taken_ = 0;      // so many of them
  std::atomic<std::size_t> taken_{0};  // jobs of the group that is being committed
  std::size_t queued_bytes_ = 0;
  bool disk_full_ = false;  // the last try found no space: one job at a time, with pauses
  bool told_full_ = false;  // on_full was called, and what it was for still waits
  // Large appends, and what came behind them of the same runs, while little space is left. In their
  // order, and before all of the queue that is of these runs.
  std::deque<std::unique_ptr<Entry>> held_back_;
  std::set<std::string> runs_held_back_;
  std::atomic<bool> closing_{false};
  std::atomic<bool> loop_is_awake_{false};  // it watches for answers
  std::atomic<bool> placing_{false};        // the next commits bring `places` up to date
  std::shared_ptr<Waiter> checkpoint_;
  std::vector<std::function<void()>> write_backs_;
  std::optional<Error> stopped_;  // a commit failed: nothing is written any more

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pawl::sqlite
