#include "pawl/adapter/journal_sqlite/committer.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pawl/adapter/journal_sqlite/relax.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/spare_space.h"
#include "pawl/adapter/journal_sqlite/stop_gate.h"
#include "pawl/adapter/journal_sqlite/writer_thread.h"

namespace pawl::sqlite {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kClosingWaitMsMax = 2'000;  // for another process that writes
constexpr std::int64_t kCheckpointWaitMsMax = 60'000;
// A round with fewer jobs is not worth waking the thread more than once. Writing a job takes about
// half as long as the loop takes for one: with two thirds the thread is done when more comes, and
// few are left to be written when the round is over.
constexpr std::size_t kEarlyRoundJobsMin = 24;
constexpr std::size_t kWatchedPartJobs = 4;  // of a thread that is awake and need not be woken
constexpr bool ends_early_part(std::size_t jobs, std::size_t of_round, bool watched) {
  if (of_round < kEarlyRoundJobsMin) return false;
  if (watched && jobs > of_round / 2 && jobs % kWatchedPartJobs == 0) return true;
  return jobs == of_round * 2 / 3 || jobs == of_round * 11 / 12;
}
constexpr std::chrono::microseconds kMoreWatchMax{200};
// For a round that others keep answering into; a thousand runs are answered in sixty parts.
constexpr int kTimesAroundMax = 1'000;
constexpr int kLogPagesFactorMax = 8;  // a log this many times too long waits for its readers

int note_log_pages(void* pages, sqlite3* /*connection*/, const char* /*name*/, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

Committer::Committer(std::unique_ptr<Connection> connection, Loop& loop,
                     const SqliteOptions& options, std::unique_ptr<StoreGuard> guard)
    : loop_(loop),
      options_(options),
      answers_(loop, order_),
      connection_(std::move(connection)),
      guard_(std::move(guard)),
      transaction_(*connection_, order_, guard_.get()),
      busy_(connection_->handle()),
      write_back_at_(options.log_pages_max) {
  connection_->set_busy_handler([this](int) { return wait_while_busy(); });
  // In place of SQLite's own checkpoints, whose failures it keeps to itself.
  sqlite3_wal_hook(connection_->handle(), note_log_pages, &log_pages_);
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "pawl-commit");
}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    alive_.reset();  // under the lock: the thread may just be posting
    answers_.close();
    closing_ = true;
    let_go_all();
  }
  changed_.notify_all();
  thread_.join();
  // Only if it is in nobody's way. After a failed commit the log is left as it is: whoever opens
  // the store next looks at what is really on disk.
  impatient_ = true;
  if (!stopped_ && log_pages_ > 0) static_cast<void>(write_back(SQLITE_CHECKPOINT_TRUNCATE));
}

void Committer::run() {
  Group group;
  while (take_group(group)) {
    if (!group.empty()) commit_group(group);
    group.clear();
    taken_ = 0;
    shorten_log();
  }
}

// After the sync and before anybody is told. A log that has begun says whose it is with a commit of
// its own; without space for that it does so later.
Status Committer::settle_commit() {
  if (!guard_) return ok();
  PAWL_CHECK(guard_->after_commit(*connection_));
  if (!guard_->log_is_unnamed()) return ok();
  connection_->clear_fault();
  Group none;
  const Status named = transaction_.write(none, [](Group&) { return false; });
  if (named) return guard_->after_commit(*connection_);
  if (connection_->in_transaction()) static_cast<void>(connection_->execute("ROLLBACK"));
  connection_->forget();
  const Fault fault = connection_->fault();
  return fault == Fault::full || fault == Fault::busy ? ok() : named;
}

// True: there is something to do.
bool Committer::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (disk_full_) {
    changed_.wait_for(lock, milliseconds(options_.full_retry_ms),
                      [this] { return closing_ || checkpoint_ || !write_backs_.empty(); });
    return !closing_;
  }
  const auto has_work = [this] {
    return closing_ || checkpoint_ || !write_backs_.empty() || let_go_ > 0;
  };
  if (held_back_.empty()) {
    changed_.wait(lock, has_work);
  } else {
    changed_.wait_for(lock, milliseconds(options_.full_retry_ms), has_work);
  }
  return !closing_ || let_go_ > 0;
}

bool Committer::take_group(Group& group) {
  std::unique_lock lock(mutex_);
  if (!wait_for_work(lock)) return false;
  if (const auto waiter = std::exchange(checkpoint_, nullptr)) {
    lock.unlock();
    answer_checkpoint(waiter);
    return true;
  }
  if (!write_backs_.empty()) {
    const auto answers = std::exchange(write_backs_, {});
    lock.unlock();
    answer_write_backs(answers);
    return true;
  }
  taken_bytes_ = 0;
  unfinished_round_.reset();
  if (!disk_full_ && std::exchange(let_go_early_, false)) unfinished_round_ = rounds_over_;
  if (!held_back_.empty() && has_space_for(held_back_.front()->job.bytes)) take_held_back();
  take_let_go(group);
  return true;
}

void Committer::take_let_go(Group& group) {
  times_taken_ = times_let_go_;
  // On a full disk a small job may still fit, and a large one must not keep it from trying.
  const std::size_t jobs_max = disk_full_ ? 1 : options_.group_jobs_max;
  group.reserve(std::min(group.size() + let_go_, jobs_max));
  for (; let_go_ > 0 && group.size() < jobs_max; --let_go_) {
    if (must_wait_for_space(*queue_.front())) {
      hold_back(std::move(queue_.front()));
      queue_.pop_front();
      continue;
    }
    const std::size_t bytes = queue_.front()->job.bytes;
    if (!group.empty() && taken_bytes_ + bytes > options_.group_bytes_max) break;
    taken_bytes_ += bytes;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  taken_ = group.size();
}

// Under the lock. A run keeps its order: what comes behind a large append waits with it.
bool Committer::must_wait_for_space(const Entry& entry) const {
  const Job& job = entry.job;
  if (job.on_full == Job::OnFull::fail) return false;
  if (!runs_held_back_.empty() && runs_held_back_.contains(job.of_run())) return true;
  return job.bytes > kLargeJobBytes && !has_space_for(taken_bytes_ + job.bytes);
}

// Once in the log and once in the database, where what the log has already must go, too.
bool Committer::has_space_for(std::uint64_t bytes) const {
  const auto pages = static_cast<std::uint64_t>(std::max(0, log_pages_ - written_back_));
  return !options_.has_space_for || options_.has_space_for(2 * bytes + pages * kPageBytes);
}

void Committer::hold_back(std::unique_ptr<Entry> entry) {
  tell_full();
  if (!entry->job.of_run().empty()) runs_held_back_.insert(entry->job.of_run());
  held_back_.push_back(std::move(entry));
}

// All of them are looked at again, before what came later of their runs.
void Committer::take_held_back() {
  let_go_ += held_back_.size();
  std::move(held_back_.rbegin(), held_back_.rend(), std::front_inserter(queue_));
  held_back_.clear();
  runs_held_back_.clear();
}

void Committer::tell_full() {
  if (std::exchange(told_full_, true) || !options_.on_full) return;
  loop_.post([told = options_.on_full, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) told();
  });
}

// True: the rest of the round whose beginning has been written has joined it, or some of it.
bool Committer::take_more(Group& group) {
  watch_for_more();
  std::unique_lock lock(mutex_);
  if (!unfinished_round_) return false;
  const auto over = [this] { return unfinished_round_ != rounds_over_; };
  changed_.wait_for(lock, milliseconds(options_.round_wait_ms_max),
                    [&] { return closing_ || checkpoint_ || let_go_ > 0 || over(); });
  if (over()) unfinished_round_.reset();
  const std::size_t before = group.size();
  take_let_go(group);
  return group.size() > before;
}

// While the loop stays awake for the sake of large rounds, so does this thread between their parts.
void Committer::watch_for_more() {
  if (!unfinished_round_ || !loop_is_awake_) return;
  const auto begin = std::chrono::steady_clock::now();
  while (times_let_go_ == times_taken_) {
    if (std::chrono::steady_clock::now() - begin > kMoreWatchMax) return;
    relax();
  }
}

void Committer::commit_group(Group& group) {
  const CommitSection section;
  connection_->clear_fault();
  begin_waiting();
  const int log_pages_before = log_pages_;
  const Status status = transaction_.write(group, [this](Group& more) { return take_more(more); });
  if (log_pages_ < log_pages_before) written_back_ = 0;  // the log has started over
  placing_ = transaction_.is_placing();
  if (status) {
    const Status settled = settle_commit();
    return settled ? deliver(group) : stop_for_good(group, settled.error());
  }
  const Error& error = status.error();
  const Fault fault = connection_->fault();
  if (connection_->in_transaction()) static_cast<void>(connection_->execute("ROLLBACK"));
  connection_->forget();
  if (fault == Fault::full) {
    keep_for_later(group, error);
  } else if (fault == Fault::busy) {
    const auto holder = busy_.holder();
    fail_all(group,
             Error{ErrorCode::unavailable,
                   "another process is writing: " + (holder ? describe(*holder) : error.message)});
  } else {
    // Nobody knows what is on disk now. Trying again would take a failed sync for a good one.
    stop_for_good(group, error);
  }
}

// Rolled back, acknowledged to nobody, and first in line again. Only those who block the loop are
// told at once.
void Committer::keep_for_later(Group& group, const Error& error) {
  const std::lock_guard lock(mutex_);
  refuse_upkeep(group, error);
  take_held_back();  // the group may have what comes before it
  let_go_ += group.size();
  taken_ = 0;
  const std::string stuck = group.size() == 1 ? group.front()->job.of_run() : "";
  std::move(group.rbegin(), group.rend(), std::front_inserter(queue_));
  group.clear();
  put_behind_others(stuck);
  // Those who block the loop have been let go.
  let_go_ -= std::erase_if(queue_, [&](const std::unique_ptr<Entry>& entry) {
    if (!entry->waiter) return false;
    entry->waiter->give(Error{ErrorCode::unavailable, "no space left: " + error.message});
    return true;
  });
  disk_full_ = !queue_.empty();
  if (disk_full_) tell_full();
}

// Under the lock. A record that does not fit must not keep other runs from writing what does: all
// that waits of its run is tried after them, in its own order.
void Committer::put_behind_others(const std::string& run) {
  if (run.empty()) return;
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(let_go_);
  std::stable_partition(queue_.begin(), end, [&](const std::unique_ptr<Entry>& entry) {
    return entry->job.of_run() != run;
  });
}

// Under the lock.
void Committer::refuse_upkeep(Group& group, const Error& error) {
  Group refused;
  Group left;
  for (auto& entry : group) {
    const bool fails = entry->job.on_full == Job::OnFull::fail;
    if (fails) {
      entry->outcome = Error{ErrorCode::unavailable,
                             "no space left where the store is, so that nothing can be written or "
                             "removed there; make room and try again: " +
                                 error.message};
    }
    (fails ? refused : left).push_back(std::move(entry));
  }
  group = std::move(left);
  deliver_locked(refused);
}

void Committer::fail_all(Group& group, const Error& error) {
  for (const auto& entry : group) entry->outcome = error;
  deliver(group);
}

void Committer::stop_for_good(Group& group, const Error& error) {
  const Error reason{ErrorCode::unavailable, "the store has stopped: " + error.message};
  const std::lock_guard lock(mutex_);
  stopped_ = reason;
  disk_full_ = false;
  std::ranges::move(held_back_, std::back_inserter(group));
  std::ranges::move(queue_, std::back_inserter(group));
  held_back_.clear();
  runs_held_back_.clear();
  queue_.clear();
  let_go_ = 0;
  queued_bytes_ = 0;
  for (const auto& entry : group) {
    entry->outcome = reason;
    entry->job.bytes = 0;
  }
  // Posted under the lock, so that whatever is submitted from now on is answered after these.
  deliver_locked(group);
}

void Committer::deliver(Group& group) {
  const std::lock_guard lock(mutex_);
  disk_full_ = false;
  if (held_back_.empty()) told_full_ = false;
  deliver_locked(group);
}

void Committer::deliver_locked(Group& group) {
  for (const auto& entry : group) {
    queued_bytes_ -= entry->job.bytes;
    if (!*entry->outcome && !entry->job.of_run().empty()) order_.fail(entry->job.of_run());
    if (entry->waiter) entry->waiter->give(*entry->outcome);
  }
  std::erase_if(group, [](const auto& entry) { return entry->waiter != nullptr; });
  if (group.empty()) return;
  answers_.give(std::exchange(group, {}));
}

std::optional<Error> Committer::overloaded(const Job& job) const {
  if (stopped_) return stopped_;
  const std::size_t waiting = queue_.size() + held_back_.size();
  if (waiting + taken_ >= options_.queued_jobs_max ||
      (waiting > 0 && queued_bytes_ + job.bytes > options_.queued_bytes_max)) {
    const bool for_space = disk_full_ || !held_back_.empty();
    return Error{ErrorCode::limit_exceeded, for_space ? "too much waits for space on the disk"
                                                      : "too much waits to be written"};
  }
  return std::nullopt;
}

void Committer::submit(Job given, std::optional<Error> refusal) {
  std::unique_ptr<Entry> entry = answers_.new_entry(std::move(given));
  Job& job = entry->job;
  std::unique_lock lock(mutex_);
  const auto overload = overloaded(job);
  if (overload) refusal = overload;
  const bool others_wait = !job.of_run().empty() && order_.enter(job.of_run());
  const bool must_wait = !stopped_ && others_wait;
  if (refusal && !must_wait) {
    job.bytes = 0;
    entry->outcome = std::move(*refusal);
    Group refused;
    refused.push_back(std::move(entry));
    deliver_locked(refused);
    return;
  }
  if (refusal) {
    // It must not overtake the appends of its run that still wait; only its content is dropped.
    job.bytes = 0;
    if (job.append) job.run = std::exchange(job.append, std::nullopt)->run.text;
    job.work = [error = std::move(*refusal)](Connection&) -> Status { return error; };
  }
  queued_bytes_ += job.bytes;
  queue_.push_back(std::move(entry));
  const bool early = is_early_part(++round_jobs_);
  if (early) {
    let_go_ = queue_.size();
    let_go_early_ = true;
    ++times_let_go_;
  }
  lock.unlock();
  if (early) changed_.notify_all();
  if (!std::exchange(letting_go_soon_, true)) come_around(answers_.times_answered(), 0);
}

// Behind what the loop has to do now. If more was called back meanwhile, once more: what that leads
// to belongs to this round.
void Committer::come_around(std::uint64_t answered, int times) {
  loop_.post([this, answered, times, alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    const std::uint64_t now = answers_.times_answered();
    if (now == answered || times == kTimesAroundMax) return let_go();
    come_around(now, times + 1);
  });
}

// With `places` to be brought up to date the thread has something to do before there are jobs.
bool Committer::is_early_part(std::size_t jobs) const {
  if (placing_ && jobs == 1 && expected_jobs_ >= kEarlyRoundJobsMin) return true;
  return ends_early_part(jobs, expected_jobs_, loop_is_awake_);
}

void Committer::let_go() {
  letting_go_soon_ = false;
  expected_jobs_ = std::exchange(round_jobs_, 0);
  {
    const std::lock_guard lock(mutex_);
    let_go_all();
  }
  changed_.notify_all();
  answers_.expect(expected_jobs_);
  loop_is_awake_ = answers_.is_awake();
}

// Under the lock.
void Committer::let_go_all() {
  let_go_ = queue_.size();
  let_go_early_ = false;
  ++rounds_over_;
  ++times_let_go_;
}

Status Committer::run_now(std::function<Status(Connection&)> work) {
  auto waiter = std::make_shared<Waiter>();
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return *stopped_;
    Job job{.work = std::move(work)};
    queue_.push_back(std::make_unique<Entry>(Entry{std::move(job), waiter}));
    let_go_all();  // the loop waits: it cannot come around
  }
  changed_.notify_all();
  // A holder that is stopped will not let go while this thread waits.
  const auto patience = milliseconds(options_.acquire_wait_ms_max);
  const auto at_first = std::min<milliseconds>(patience, kNameHolderAfter + milliseconds(500));
  if (waiter->wait(at_first)) return *waiter->answer;
  const auto stopped_one = [this] {
    const auto holder = busy_.holder();
    return holder && holder->state == LockHolder::State::stopped;
  };
  if (!stopped_one() && waiter->wait(patience - at_first)) return *waiter->answer;
  waiter->abandoned = true;
  if (const auto holder = busy_.holder()) {
    return Error{ErrorCode::unavailable, "another process is writing: " + describe(*holder)};
  }
  return Error{ErrorCode::unavailable, "the store did not answer within " +
                                           std::to_string(options_.acquire_wait_ms_max) + " ms"};
}

Status Committer::checkpoint() {
  auto waiter = std::make_shared<Waiter>();
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return *stopped_;
    checkpoint_ = waiter;
  }
  changed_.notify_all();
  if (waiter->wait(milliseconds(kCheckpointWaitMsMax))) return *waiter->answer;
  return Error{ErrorCode::unavailable, "the log could not be written back in time"};
}

void Committer::answer_checkpoint(const std::shared_ptr<Waiter>& waiter) {
  waiter->give(stopped_ ? Status(*stopped_) : write_back(SQLITE_CHECKPOINT_TRUNCATE));
}

void Committer::refuse(const Error& reason) {
  const std::lock_guard lock(mutex_);
  stopped_ = reason;
}

void Committer::write_back_soon(std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    write_backs_.push_back(std::move(done));
  }
  changed_.notify_all();
}

void Committer::answer_write_backs(const std::vector<std::function<void()>>& answers) {
  if (!stopped_) static_cast<void>(write_back(SQLITE_CHECKPOINT_PASSIVE));
  loop_.post([answers, alive = std::weak_ptr<char>(alive_)] {
    for (const auto& answer : answers) {
      if (alive.expired()) return;
      answer();
    }
  });
}

// The log says whose it is, and the mark is as durable as the log, before anything of it is in the
// database.
Status Committer::prepare_write_back() {
  if (!guard_) return ok();
  PAWL_CHECK(guard_->look_at_log(*connection_));
  if (guard_->log_is_unnamed()) PAWL_CHECK(settle_commit());
  return guard_->sync_mark();
}

Status Committer::write_back(int mode) {
  const CommitSection section;
  if (const Status prepared = prepare_write_back(); !prepared) {
    Group none;
    stop_for_good(none, prepared.error());
    return prepared;
  }
  if (guard_ && guard_->log_is_unnamed()) {
    return Error{ErrorCode::unavailable, "there is no space to write the log back"};
  }
  connection_->clear_fault();
  begin_waiting();
  const int code =
      sqlite3_wal_checkpoint_v2(connection_->handle(), nullptr, mode, nullptr, &written_back_);
  if (code == SQLITE_OK) return ok();
  written_back_ = 0;
  const Error error = connection_->failed("writing the log back");
  if (connection_->fault() == Fault::other) {
    Group none;
    stop_for_good(none, error);
  }
  return error;
}

// After the callbacks, so that nobody waits for it.
void Committer::shorten_log() {
  if (log_pages_ < options_.log_pages_max) write_back_at_ = options_.log_pages_max;
  if (!stopped_ && !held_back_.empty() && log_pages_ > 0) return empty_log();
  if (stopped_ || log_pages_ < write_back_at_) return;
  const bool far_too_long = log_pages_ >= kLogPagesFactorMax * options_.log_pages_max;
  // Being in someone's way, or without space, is not a failure here: the log only grows a little
  // more.
  static_cast<void>(
      write_back(far_too_long ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE));
  // If a reader keeps the log from starting over, not again after every commit.
  write_back_at_ = log_pages_ + options_.log_pages_max / 2;
}

// What is held back needs the space that the log takes. If somebody reads it, the next time.
void Committer::empty_log() {
  impatient_ = true;
  if (write_back(SQLITE_CHECKPOINT_TRUNCATE)) log_pages_ = written_back_ = 0;
  impatient_ = false;
}

void Committer::begin_waiting() {
  busy_since_ = std::chrono::steady_clock::now();
  busy_.restart();
}

// Called by SQLite on the committer's thread.
bool Committer::wait_while_busy() {
  if (impatient_) return false;
  const auto waited = std::chrono::steady_clock::now() - busy_since_;
  const std::int64_t patience_ms = closing_ ? kClosingWaitMsMax : options_.busy_wait_ms_max;
  if (waited > milliseconds(patience_ms)) return false;
  if (const auto holder = busy_.look(waited); holder && options_.on_busy) {
    loop_.post(
        [told = options_.on_busy, text = describe(*holder), alive = std::weak_ptr<char>(alive_)] {
          if (!alive.expired()) told(text);
        });
  }
  std::this_thread::sleep_for(poll_after(waited));
  return true;
}

}  // namespace pawl::sqlite
