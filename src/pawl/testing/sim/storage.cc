#include "pawl/testing/sim/storage.h"

#include <algorithm>
#include <utility>

#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/testing/sim/verdicts.h"

namespace pawl::sim {

SimStorage::SimStorage(SimClock& clock, std::uint64_t seed, PlantedBug bug, Watcher watcher,
                       Refusals refusals)
    : loop_(clock),
      rng_(seed),
      bug_(bug),
      leases_(loop_, bug),
      watcher_(std::move(watcher)),
      refusals_(std::move(refusals)),
      index_(std::make_unique<MemoryJournal>(loop_)) {}

// The planted bug writes large contents later, on their own.
Append SimStorage::without_blobs(Append append) {
  if (bug_ != PlantedBug::blob_after_record || append.blobs.empty()) return append;
  BlobsOp late{append.run, std::exchange(append.blobs, {})};
  loop_.at(rng_.between(20, 400),
           [this, late = std::move(late)] { disk_.append(encode_frame(frames_++, {late})); });
  return append;
}

SimStorage::Written SimStorage::write(const std::vector<Op>& group, std::set<std::string>& failed) {
  Written place{frames_, disk_.size(), {}};
  std::vector<Op> accepted;
  Verdicts verdicts(*index_, bug_, failed);
  for (const Op& op : group) {
    place.outcomes.push_back(verdicts.judge(op));
    if (!place.outcomes.back()) continue;
    const Append* append = std::get_if<Append>(&op);
    if (append != nullptr && uncounted_.erase(append->run.text) > 0) {
      accepted.emplace_back(AcquireOp{append->run});
    }
    accepted.push_back(append != nullptr ? Op(without_blobs(*append)) : op);
  }
  disk_.append(encode_frame(frames_++, accepted));
  return place;
}

Status SimStorage::sync() {
  Status synced = disk_.sync();
  if (!synced && bug_ == PlantedBug::sync_retried) synced = disk_.sync();
  return synced;
}

bool SimStorage::unwrite(const Written& group) {
  if (frames_ != group.frame + 1) return false;
  disk_.truncate(group.offset);
  --frames_;
  return true;
}

Status SimStorage::write_now(const Op& op) {
  disk_.append(encode_frame(frames_++, {op}));
  return sync();
}

bool SimStorage::ends_over_inbox(const Append& append) {
  if (bug_ != PlantedBug::end_over_inbox || !ends_run(append)) return false;
  const auto rows = index_->pending(append.run);
  return std::any_of(rows->begin(), rows->end(), [&](const InboxRow& row) {
    const auto& taken = append.inbox_taken;
    return std::find(taken.begin(), taken.end(), row.row) == taken.end();
  });
}

// The planted bug: the run ends, whatever is in its inbox.
void SimStorage::end_blindly(Append append, StatusCallback done) {
  const RunSummary over = *std::exchange(append.summary, std::nullopt);
  const RunId run = append.run;
  index_->append(std::move(append), std::move(done));
  (void)index_->quarantine(run, "");
  (void)index_->lift_quarantine(over);
}

void SimStorage::apply(const Op& op, const Status& outcome, StatusCallback done) {
  if (const Append* append = std::get_if<Append>(&op)) {
    auto copy = std::make_shared<Append>(*append);
    done = [this, copy, done = std::move(done)](const Status& status) {
      if (status) watcher_(*copy);
      if (!status && done) refusals_(*copy, status.error());
      if (done) done(status);
    };
  }
  if (outcome) return apply_accepted(op, std::move(done));
  loop_.post([outcome, done = std::move(done)] { done(outcome); });
}

// Nothing is decided here: what is in the log was accepted, at its place.
void SimStorage::apply_accepted(const Op& op, StatusCallback done) {
  StatusCallback applied = [done = std::move(done)](const Status& status) {
    PAWL_ASSERT(status);
    if (done) done(status);
  };
  if (const Append* append = std::get_if<Append>(&op)) {
    last_run_ = append->run.text;
    return ends_over_inbox(*append) ? end_blindly(*append, std::move(applied))
                                    : index_->append(*append, std::move(applied));
  }
  if (const PostOp* post = std::get_if<PostOp>(&op)) {
    index_->number_next_row(post->row);
    return index_->post(post->run, post->at_ms, post->body, std::move(applied));
  }
  if (const DropOp* drop = std::get_if<DropOp>(&op)) {
    return index_->drop(drop->run, drop->epoch, drop->rows, std::move(applied));
  }
  if (const AcquireOp* acquired = std::get_if<AcquireOp>(&op)) {
    (void)index_->acquire(acquired->run);
  } else if (const QuarantineOp* quarantined = std::get_if<QuarantineOp>(&op)) {
    (void)index_->quarantine(quarantined->run, quarantined->why);
  }
}

// The planted bugs: what the lock would refuse a lease allows.
Result<RunLease> SimStorage::acquire_by_lease(const RunId& run) {
  if (leases_.is_held(run.text) && !leases_.has_lapsed(run.text)) {
    return Error{ErrorCode::conflict, "run " + run.text + " is driven by someone else"};
  }
  PAWL_TRY(RunLease lease, index_->acquire(run));
  lease.hold.reset();
  lease.hold = leases_.give(run.text);
  return lease;
}

void SimStorage::renew(Append& append) {
  if (bug_ != PlantedBug::heartbeat_after_takeover) return;
  append.epoch = epoch_of(append.run);
  leases_.renew(append.run.text);
}

Result<RunLease> SimStorage::acquire(const RunId& run) {
  auto lease = leases_.in_use() ? acquire_by_lease(run) : index_->acquire(run);
  const bool refused = !lease && lease.error().code == ErrorCode::conflict;
  if (refused) return lease;
  if (bug_ == PlantedBug::load_counted_late && lease && lease->length > 0) {
    uncounted_.insert(run.text);
    return lease;
  }
  PAWL_CHECK(write_now(AcquireOp{run}));
  return lease;
}

Status SimStorage::quarantine(const RunId& run, const std::string& why) {
  PAWL_CHECK(write_now(QuarantineOp{run, why}));
  return index_->quarantine(run, why);
}

void SimStorage::arrive_late(Append append) {
  if (writer != nullptr) {  // Not in the middle of another's transaction.
    return loop_.at(
        1, [this, append = std::move(append)]() mutable { arrive_late(std::move(append)); });
  }
  if (bug_ == PlantedBug::no_epoch_check) append.epoch = epoch_of(append.run);
  // Refused by the epoch or the length: whoever drives the run now never hears of it.
  std::set<std::string> failed;
  const Status wanted = write({append}, failed).outcomes.front();
  if (sync() && wanted) apply(append, wanted, nullptr);
}

Status SimStorage::lose_power() {
  disk_.lose_power(rng_);
  return reopen();
}

Status SimStorage::reopen() {
  index_ = std::make_unique<MemoryJournal>(loop_);
  uncounted_.clear();
  leases_.clear();
  writer = nullptr;
  const std::string file = disk_.contents();
  const LogScan scan = scan_log(file);
  if (bug_ == PlantedBug::torn_tail_refused && scan.tail == LogScan::Tail::torn) {
    return Error{ErrorCode::corrupt, "the log ends in the middle of a frame"};
  }
  for (const auto& group : scan.groups) {
    for (const Op& op : group) apply_accepted(op, nullptr);
  }
  const std::string zeros(32, '\0');
  const bool zeroed = file.compare(scan.good_bytes, zeros.size(), zeros) == 0;
  disk_.truncate(scan.good_bytes);
  frames_ = scan.groups.size();
  if (zeroed && bug_ == PlantedBug::zero_record_accepted) return take_zeros_for_a_record();
  return ok();
}

Status SimStorage::take_zeros_for_a_record() {
  const auto runs = index_->list({last_run_, "", "", 1});
  if (!runs || runs->empty()) return ok();
  Append append;
  append.run = RunId{last_run_};
  append.seq = runs->front().length;
  append.epoch = epoch_of(append.run);
  apply(append, ok(), nullptr);
  return ok();
}

bool SimStorage::load_kills(const RunId& run) {
  const auto found = poisoned_.find(run.text);
  if (found == poisoned_.end()) return false;
  ++found->second;
  return true;
}

int SimStorage::deadly_loads(const RunId& run) const {
  const auto found = poisoned_.find(run.text);
  return found == poisoned_.end() ? 0 : found->second;
}

void SimStorage::cancel_blindly(const RunId& run, const std::string& body) {
  const auto event = decode_event(body);
  const auto runs = index_->list({run.text, "", "done", 1});
  if (event && std::holds_alternative<CancelRequested>(*event) && runs && !runs->empty()) {
    cancelled_late_.insert(run.text);
  }
}

Result<std::vector<RunSummary>> SimStorage::list(const ListQuery& query) {
  PAWL_TRY(auto runs, index_->list(query));
  for (RunSummary& run : runs) {
    if (cancelled_late_.contains(run.id.text)) run.status = "cancelled";
  }
  return runs;
}

Result<std::vector<StoredRecord>> SimStorage::read(const RunId& run, std::uint64_t from,
                                                   std::size_t bytes_max) {
  PAWL_TRY(auto records, index_->read(run, from, bytes_max));
  if (damaged_.empty()) return records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    StoredRecord& record = records[i];
    if (!damaged_.contains({run.text, record.seq})) continue;
    if (bug_ == PlantedBug::damage_dropped) {
      records.resize(i);
      return records;
    }
    record.bytes[record.bytes.size() / 2] ^= 0x10;
  }
  return records;
}

}  // namespace pawl::sim
