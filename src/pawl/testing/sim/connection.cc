#include "pawl/testing/sim/connection.h"

#include <algorithm>
#include <utility>

#include "pawl/kernel/codec.h"

namespace pawl::sim {
namespace {

template <class Queue>
bool has_of(const Queue& queue, const RunId& run) {
  return std::any_of(queue.begin(), queue.end(), [&run](const auto& queued) {
    return std::visit([&run](const auto& op) { return op.run == run; }, queued.op);
  });
}

}  // namespace

SimConnection::SimConnection(SimStorage& storage, SimLoop& loop, Faults& faults,
                             std::function<void()> on_crash)
    : storage_(storage), loop_(loop), faults_(faults), on_crash_(std::move(on_crash)) {}

void SimConnection::crash() {
  die();
  on_crash_();
}

void SimConnection::die() {
  if (dead_) return;
  dead_ = true;
  const bool whole = faults_.rng().one_in(2);
  if (!writing_.empty() && (whole || !storage_.unwrite(written_))) apply_written(false);
  if (storage_.writer == this) storage_.writer = nullptr;
  for (Queued& queued : queue_) {
    Append* append = std::get_if<Append>(&queued.op);
    if (append == nullptr || !faults_.strikes(FaultKind::late_append, 3'000)) continue;
    storage_.loop().at(faults_.rng().between(0, 40),
                       [&storage = storage_, late = std::move(*append)]() mutable {
                         storage.arrive_late(std::move(late));
                       });
  }
  queue_.clear();
  writing_.clear();
}

Status SimConnection::stopped() const {
  if (!dead_ && !failed_) return ok();
  return Error{ErrorCode::unavailable, "the store has stopped"};
}

// What changes a run at once comes behind what is being written of that run, as it does where a
// transaction excludes all others.
Status SimConnection::wait_for_writer(const RunId& run) {
  PAWL_CHECK(stopped());
  SimConnection* const other = storage_.writer;
  if (other == nullptr || !has_of(other->writing_, run)) return ok();
  if (other != this && other->loop_.stopped()) {
    return Error{ErrorCode::unavailable, "another process is writing, and is stopped"};
  }
  other->finish();
  return stopped();
}

Result<RunLease> SimConnection::acquire(const RunId& run) {
  PAWL_CHECK(wait_for_writer(run));
  if (has_of(queue_, run))
    return Error{ErrorCode::unavailable, "records of the run wait for space"};
  return storage_.acquire(run);
}

Status SimConnection::quarantine(const RunId& run, const std::string& why) {
  PAWL_CHECK(wait_for_writer(run));
  return storage_.quarantine(run, why);
}

// Not in the log: whoever loses power counts the load again, or finds the quarantine again.
Status SimConnection::forgive(const RunId& run, std::uint64_t epoch) {
  PAWL_CHECK(wait_for_writer(run));
  return storage_.index().forgive(run, epoch);
}

Status SimConnection::lift_quarantine(const RunSummary& summary) {
  PAWL_CHECK(wait_for_writer(summary.id));
  return storage_.index().lift_quarantine(summary);
}

void SimConnection::append(Append append, StatusCallback done) {
  if (dead_) return;
  storage_.hand_over(append);
  storage_.renew(append);
  const bool dies = faults_.strikes(FaultKind::crash_in_append, 15);
  enqueue(std::move(append), std::move(done));
  if (dies) crash();
}

void SimConnection::post(const RunId& run, std::int64_t at_ms, std::string body,
                         StatusCallback done) {
  if (storage_.bug() == PlantedBug::cancel_after_the_end) storage_.cancel_blindly(run, body);
  if (!dead_) enqueue(PostOp{run, at_ms, std::move(body), 0}, std::move(done));
}

// Planted bugs: the caller is told that it is durable when it is not.
void SimConnection::acknowledge_early(Queued& queued) {
  const Append* append = std::get_if<Append>(&queued.op);
  if (append == nullptr) return;
  bool early = storage_.bug() == PlantedBug::intent_unsynced;
  if (storage_.bug() == PlantedBug::result_acknowledged_early) {
    const auto record = decode_record(append->bytes);
    early = record && std::holds_alternative<ToolFinished>(record->event);
  }
  if (early) loop_.post([done = std::exchange(queued.done, [](const Status&) {})] { done(ok()); });
}

void SimConnection::enqueue(Op op, StatusCallback done) {
  if (failed_) {
    return loop_.post(
        [done = std::move(done)] { done(Error{ErrorCode::unavailable, "the store has stopped"}); });
  }
  if (const auto* append = std::get_if<Append>(&op)) ++under_way_[append->run.text];
  queue_.push_back({std::move(op), std::move(done)});
  acknowledge_early(queue_.back());
  schedule(faults_.rng().between(0, 2));
}

void SimConnection::schedule(std::int64_t delay_ms) {
  if (scheduled_) return;
  scheduled_ = true;
  loop_.at(delay_ms, [this] {
    scheduled_ = false;
    commit();
  });
}

void SimConnection::commit() {
  if (dead_ || failed_ || !writing_.empty() || queue_.empty()) return;
  const std::int64_t now = loop_.monotonic_ms();
  if (now < storage_.full_until_ms) {
    if (storage_.bug() != PlantedBug::full_disk_is_success) return schedule(50);
    for (Queued& queued : queue_) loop_.post([done = std::move(queued.done)] { done(ok()); });
    return queue_.clear();
  }
  if (storage_.writer != nullptr) return schedule(1);
  const std::size_t count = std::min(queue_.size(), kGroupMax);
  std::vector<Op> group;
  for (std::size_t i = 0; i < count; ++i) {
    if (auto* const post = std::get_if<PostOp>(&queue_.front().op)) post->row = storage_.next_row();
    group.push_back(queue_.front().op);
    writing_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  written_ = storage_.write(group, refused_);
  const bool slow = faults_.strikes(FaultKind::slow_commit, 20);
  const std::int64_t takes = slow ? faults_.rng().between(100, 3'000) : faults_.rng().between(0, 1);
  storage_.writer = this;
  if (faults_.strikes(FaultKind::crash_in_commit, 15)) return crash();
  loop_.at(takes, [this, frame = written_.frame] {
    if (!writing_.empty() && written_.frame == frame) finish();
  });
}

void SimConnection::finish() {
  if (dead_) return;
  if (faults_.strikes(FaultKind::sync_error, 5)) storage_.disk().fail_next_sync();
  storage_.writer = nullptr;
  if (!storage_.sync()) {
    if (!storage_.unwrite(written_)) apply_written(false);
    return fail_all();
  }
  if (faults_.strikes(FaultKind::crash_after_sync, 15)) return crash();
  apply_written(true);
  writing_.clear();
  if (!queue_.empty()) schedule(0);
}

void SimConnection::apply_written(bool told) {
  for (std::size_t i = 0; i < writing_.size(); ++i) {
    const Queued& queued = writing_[i];
    StatusCallback done = [](const Status&) {};
    if (told) {
      done = [this, alive = std::weak_ptr<char>(alive_), queued](const Status& status) {
        if (alive.expired()) return;
        loop_.post([this, queued, status] {
          answered(queued.op);
          queued.done(status);
        });
      };
    }
    storage_.apply(queued.op, written_.outcomes[i], std::move(done));
  }
}

// Behind the last append that was under way with a refused one others are judged anew.
void SimConnection::answered(const Op& op) {
  const auto* append = std::get_if<Append>(&op);
  if (append == nullptr || --under_way_[append->run.text] > 0) return;
  under_way_.erase(append->run.text);
  refused_.erase(append->run.text);
}

void SimConnection::fail_all() {
  failed_ = true;
  std::vector<Queued> lost = std::exchange(writing_, {});
  for (Queued& queued : queue_) lost.push_back(std::move(queued));
  queue_.clear();
  for (const Queued& queued : lost) {
    loop_.post([done = queued.done] {
      done(Error{ErrorCode::unavailable, "the store has stopped: input/output error"});
    });
  }
}

Result<std::vector<StoredRecord>> SimConnection::read(const RunId& run, std::uint64_t from,
                                                      std::size_t bytes_max) {
  return storage_.read(run, from, bytes_max);
}

Result<std::string> SimConnection::blob(const RunId& run, const Digest& digest) {
  return storage_.index().blob(run, digest);
}

Result<std::optional<std::int64_t>> SimConnection::expired_at(const RunId& run,
                                                              const Digest& digest) {
  return storage_.index().expired_at(run, digest);
}

// The first thing a load reads.
Result<std::optional<StoredSnapshot>> SimConnection::snapshot(const RunId& run) {
  if (storage_.load_kills(run)) {
    crash();
    return Error{ErrorCode::unavailable, "the process died"};
  }
  return storage_.index().snapshot(run);
}

Result<std::vector<RunSummary>> SimConnection::list(const ListQuery& query) {
  return storage_.list(query);
}

Result<std::uint64_t> SimConnection::version() {
  return storage_.index().version();
}

Result<bool> SimConnection::is_driven(const RunId& run) {
  return storage_.index().is_driven(run);
}

void SimConnection::drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
                         StatusCallback done) {
  if (!dead_) enqueue(DropOp{run, epoch, std::move(rows)}, std::move(done));
}

Result<std::vector<RunId>> SimConnection::addressed() {
  return storage_.index().addressed();
}

Result<std::vector<InboxRow>> SimConnection::pending(const RunId& run) {
  return storage_.index().pending(run);
}

}  // namespace pawl::sim
