#include "pawl/adapter/journal_sqlite/answers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pawl/adapter/journal_sqlite/relax.h"

namespace pawl::sqlite {

void Answers::give(Group group) {
  const std::lock_guard lock(mutex_);
  // What was posted before the loop began to watch is called back before it looks. What comes when
  // nobody is called any more is kept: it is the loop's to free.
  if (watched_ || !alive_) {
    ready_.push_back(std::move(group));
    any_ready_.store(true, std::memory_order_release);
    return;
  }
  auto answers = std::make_shared<Group>(std::move(group));
  loop_.post([this, answers, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) answer(std::move(*answers));
  });
}

// What is answered already, a part at a time, comes first.
void Answers::answer(Group group) {
  note_answer();
  const bool under_way = !due_.empty();
  std::move(group.begin(), group.end(), std::back_inserter(due_));
  if (!under_way) answer_some();
}

void Answers::answer_some() {
  ++times_answered_;
  const std::weak_ptr<char> alive = alive_;
  std::size_t left = std::min(due_.size(), kAnsweredAtOnce);
  if (due_.size() > left) {
    loop_.post([this, alive] {
      if (!alive.expired()) answer_some();
    });
  }
  for (; left > 0; --left) {
    std::unique_ptr<Entry> entry = std::move(due_.front());
    due_.pop_front();
    if (!entry->job.of_run().empty()) order_.leave(entry->job.of_run());
    if (on_written_ && entry->written) on_written_(*entry->written);
    entry->job.done(std::move(*entry->outcome));
    if (alive.expired()) return;
    spent_.push_back(std::move(entry));
  }
  if (due_.empty()) free_spent_later();
}

void Answers::note_answer() {
  if (!std::exchange(expecting_, false)) return;
  last_took_ =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - expecting_since_);
}

void Answers::expect(std::size_t jobs) {
  expecting_ = true;
  expecting_since_ = Clock::now();
  free_spent();
  const bool pays = note_round(jobs) && last_took_ < kWatchMax;
  const bool always = watching_ == Watching::always && jobs >= kWatchedJobsMin;
  if (!pays && !always) return;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(watched_, true)) return;
  }
  watch();
}

// True: answers are to be watched for.
bool Answers::note_round(std::size_t jobs) {
  if (jobs < kWatchedJobsMin) {
    last_round_.reset();
    return false;
  }
  if (last_round_) choice_.note(expecting_since_ - *last_round_);
  last_round_ = expecting_since_;
  return choice_.watches();
}

void Answers::watch() {
  loop_.post([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired() && !look()) watch();
  });
}

// False: to be asked again.
bool Answers::look() {
  const Clock::time_point begin = Clock::now();
  Clock::time_point now = begin;
  while (!any_ready_.load(std::memory_order_acquire) && now - begin < kLook) {
    relax();
    now = Clock::now();
  }
  std::vector<Group> ready;
  {
    const std::lock_guard lock(mutex_);
    if (ready_.empty() && now - expecting_since_ < kWatchMax) return false;
    watched_ = false;
    any_ready_.store(false, std::memory_order_relaxed);
    ready = std::exchange(ready_, {});
  }
  const std::weak_ptr<char> alive = alive_;
  for (Group& group : ready) {
    if (!alive.expired()) answer(std::move(group));
  }
  return true;
}

// What the answers lead to comes first. If the loop gives new jobs by then, there is time while
// they are written.
void Answers::free_spent_later() {
  loop_.post([this, alive = std::weak_ptr<char>(alive_), sooner = expecting_since_] {
    if (alive.expired() || sooner != expecting_since_) return;
    loop_.post([this, alive] {
      if (!alive.expired()) free_spent();
    });
  });
}

// What a job held was made by the loop's thread and is freed by it: the C library is slow with what
// one thread allocates and another frees.
void Answers::free_spent() {
  for (auto& entry : spent_) {
    if (spare_.size() >= kSpareMax) break;
    *entry = Entry{};
    spare_.push_back(std::move(entry));
  }
  spent_.clear();
}

std::unique_ptr<Entry> Answers::new_entry(Job job) {
  if (spare_.empty()) return std::make_unique<Entry>(Entry{std::move(job)});
  std::unique_ptr<Entry> entry = std::move(spare_.back());
  spare_.pop_back();
  entry->job = std::move(job);
  return entry;
}

bool Answers::is_watching() const {
  const std::lock_guard lock(mutex_);
  return watched_;
}

void Answers::close() {
  const std::lock_guard lock(mutex_);
  alive_.reset();
}

}  // namespace pawl::sqlite
