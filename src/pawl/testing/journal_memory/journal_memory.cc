#include "pawl/testing/journal_memory/journal_memory.h"

#include <algorithm>
#include <utility>

#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/words.h"

namespace pawl {
namespace {

bool matches(const RunSummary& summary, const ListQuery& query) {
  return summary.id.text.starts_with(query.id_prefix) &&
         (query.tenant.empty() || summary.tenant == query.tenant) &&
         (query.status.empty() || summary.status == query.status) &&
         (query.before == 0 || summary.number < query.before);
}

bool are_taken(const std::vector<InboxRow>& rows, const std::vector<std::uint64_t>& taken) {
  return std::all_of(rows.begin(), rows.end(), [&](const InboxRow& row) {
    return std::find(taken.begin(), taken.end(), row.row) != taken.end();
  });
}

template <class Run>
std::uint64_t bytes_of(const Run& run) {
  std::uint64_t bytes = run.snapshot ? run.snapshot->state.size() : 0;
  for (const StoredRecord& record : run.records) bytes += record.bytes.size();
  for (const auto& [digest, content] : run.blobs) bytes += content.size();
  for (const InboxRow& row : run.inbox) bytes += row.body.size();
  return bytes;
}

template <class Run>
void keep(Run& run, const StoredBlob& blob) {
  if (blob.expired_at_ms) {
    if (!run.blobs.contains(blob.digest)) run.expired.emplace(blob.digest, *blob.expired_at_ms);
    return;
  }
  run.blobs.emplace(blob.digest, blob.bytes);
  run.expired.erase(blob.digest);
}

}  // namespace

MemoryJournal::MemoryJournal(Loop& loop) : loop_(loop) {}
MemoryJournal::~MemoryJournal() = default;

MemoryJournal::Run* MemoryJournal::find(const RunId& run) {
  const auto found = runs_.find(run.text);
  return found == runs_.end() ? nullptr : &found->second;
}

Result<RunLease> MemoryJournal::acquire(const RunId& run) {
  if (driven_->contains(run.text)) return conflict(run, "is driven by someone else");
  RunLease lease{1, 0, nullptr};
  if (Run* known = find(run)) {
    if (known->quarantined || known->summary.status == "quarantined") {
      return Error{ErrorCode::corrupt,
                   "run " + run.text + " is quarantined: " + known->summary.reason};
    }
    if (known->loads >= kFailedLoadsMax) {
      set_quarantined(*known, loaded_in_vain(known->loads));
      return Error{ErrorCode::corrupt,
                   "run " + run.text + " is quarantined: " + known->summary.reason};
    }
    ++known->loads;
    ++version_;
    lease.epoch = ++known->epoch;
    lease.length = known->records.size();
  }
  driven_->insert(run.text);
  lease.hold = std::shared_ptr<void>(
      nullptr, [driven = driven_, id = run.text](void*) { driven->erase(id); });
  return lease;
}

void MemoryJournal::append(Append append, StatusCallback done) {
  const std::string id = append.run.text;
  InFlight& queue = in_flight_[id];
  Status outcome = queue.failed
                       ? Status(conflict(append.run, "had a failed append before this one"))
                       : write(append);
  ++queue.count;
  queue.failed = queue.failed || !outcome;
  std::weak_ptr<char> alive = alive_;
  loop_.post([this, alive, id, outcome = std::move(outcome), done = std::move(done)]() mutable {
    if (alive.expired()) return;
    if (--in_flight_[id].count == 0) in_flight_.erase(id);
    done(std::move(outcome));
  });
}

Status MemoryJournal::check_position(const Append& append) {
  const Run* known = find(append.run);
  const std::uint64_t length = known ? known->records.size() : 0;
  PAWL_CHECK(check_epoch(append.run, append.epoch));
  PAWL_CHECK(check_length(append.run, length, append.seq));
  if (append.seq == 0 && !append.summary) {
    return Error{ErrorCode::invalid_argument, "the first record of a run needs a summary"};
  }
  const bool abandons = known && ends_run(append) && !are_taken(known->inbox, append.inbox_taken);
  return abandons ? Status(inbox_waits(append.run)) : ok();
}

std::uint64_t MemoryJournal::epoch_of(const RunId& run) const {
  const auto found = runs_.find(run.text);
  return found == runs_.end() ? 1 : found->second.epoch;
}

Status MemoryJournal::check_epoch(const RunId& run, std::uint64_t epoch) {
  const std::uint64_t is = epoch_of(run);
  if (epoch == is) return ok();
  return conflict(run, "is at epoch " + std::to_string(is) + ", not " + std::to_string(epoch));
}

Status MemoryJournal::write(const Append& append) {
  PAWL_CHECK(check_limits(append));
  PAWL_CHECK(check_position(append));
  Run& run = runs_[append.run.text];
  if (append.seq == 0) run.number = ++runs_made_;
  run.records.push_back({append.seq, append.bytes, append.chain});
  run.loads = 0;
  for (const StoredBlob& blob : append.blobs) keep(run, blob);
  std::erase_if(run.inbox, [&](const InboxRow& row) {
    const auto& taken = append.inbox_taken;
    return std::find(taken.begin(), taken.end(), row.row) != taken.end();
  });
  if (append.summary) run.summary = *append.summary;
  run.summary.id = append.run;
  run.summary.length = run.records.size();
  run.summary.number = run.number;
  if (append.snapshot) run.snapshot = append.snapshot;
  if (append.snapshots == Append::Snapshots::drop) run.snapshot.reset();
  ++version_;
  return ok();
}

// The epoch rises with it, so that whoever drives the run now cannot add to it either.
void MemoryJournal::set_quarantined(Run& run, const std::string& why) {
  run.quarantined = true;
  ++run.epoch;
  run.summary.status = "quarantined";
  run.summary.reason = why;
  run.summary.updated_at_ms = loop_.wall_ms();
  ++version_;
}

Status MemoryJournal::quarantine(const RunId& run, const std::string& why) {
  Run* known = find(run);
  if (!known) return no_such_run(run);
  set_quarantined(*known, why);
  return ok();
}

Status MemoryJournal::forgive(const RunId& run, std::uint64_t epoch) {
  Run* known = find(run);
  if (!known) return no_such_run(run);
  PAWL_CHECK(check_epoch(run, epoch));
  if (known->loads > 0) --known->loads;
  ++version_;
  return ok();
}

Status MemoryJournal::lift_quarantine(const RunSummary& summary) {
  Run* known = find(summary.id);
  if (!known) return no_such_run(summary.id);
  if (!known->quarantined) return conflict(summary.id, "has no quarantine that could be lifted");
  known->quarantined = false;
  known->loads = 0;
  known->summary.status = summary.status;
  known->summary.reason = summary.reason;
  known->summary.updated_at_ms = loop_.wall_ms();
  ++version_;
  return ok();
}

Result<std::vector<StoredRecord>> MemoryJournal::read(const RunId& run, std::uint64_t from,
                                                      std::size_t bytes_max) {
  const Run* known = find(run);
  if (!known) return no_such_run(run);
  std::vector<StoredRecord> records;
  std::size_t bytes = 0;
  for (std::uint64_t seq = from; seq < known->records.size(); ++seq) {
    const StoredRecord& record = known->records[seq];
    bytes += record.bytes.size();
    if (!records.empty() && bytes > bytes_max) break;
    records.push_back(record);
  }
  return records;
}

Result<std::string> MemoryJournal::blob(const RunId& run, const Digest& digest) {
  const Run* known = find(run);
  if (!known) return no_such_run(run);
  const auto found = known->blobs.find(digest);
  if (found == known->blobs.end()) {
    const auto gone = known->expired.find(digest);
    return gone == known->expired.end() ? no_such_blob(run, digest)
                                        : expired_blob(run, digest, gone->second);
  }
  if (sha256(found->second) != digest) return damaged_blob(run, digest);
  return found->second;
}

Result<std::optional<std::int64_t>> MemoryJournal::expired_at(const RunId& run,
                                                              const Digest& digest) {
  const Run* known = find(run);
  if (!known) return no_such_run(run);
  const auto gone = known->expired.find(digest);
  if (gone == known->expired.end()) return std::optional<std::int64_t>();
  return std::optional(gone->second);
}

Result<std::optional<StoredSnapshot>> MemoryJournal::snapshot(const RunId& run) {
  const Run* known = find(run);
  return known ? known->snapshot : std::nullopt;
}

Result<std::vector<RunSummary>> MemoryJournal::list(const ListQuery& query) {
  std::vector<const Run*> found;
  for (const auto& [id, run] : runs_) {
    if (matches(run.summary, query)) found.push_back(&run);
  }
  const auto is_named = [&](const Run* run) { return run->summary.id.text == query.id_prefix; };
  std::sort(found.begin(), found.end(), [&](const Run* a, const Run* b) {
    return std::pair(is_named(a), a->number) > std::pair(is_named(b), b->number);
  });
  if (found.size() > query.count_max) found.resize(query.count_max);
  std::vector<RunSummary> summaries;
  for (const Run* run : found) summaries.push_back(run->summary);
  return summaries;
}

Result<std::uint64_t> MemoryJournal::version() {
  return version_;
}

Result<bool> MemoryJournal::is_driven(const RunId& run) {
  return driven_->contains(run.text);
}

Status MemoryJournal::put(const RunId& run, std::int64_t at_ms, std::string body) {
  PAWL_CHECK(check_inbox_limits(body));
  Run* known = find(run);
  if (!known) return no_such_run(run);
  if (is_terminal(known->summary.status))
    return conflict(run, "has ended: " + known->summary.status);
  if (known->inbox.size() >= kInboxRowsMax) {
    return Error{ErrorCode::limit_exceeded,
                 "the inbox of run " + run.text + " is full: " + std::to_string(kInboxRowsMax)};
  }
  const auto question = question_of(body);
  if (question && std::any_of(known->inbox.begin(), known->inbox.end(), [&](const InboxRow& row) {
        return question_of(row.body) == question;
      })) {
    return conflict(run, kAnsweredBefore);
  }
  known->inbox.push_back({++rows_made_, at_ms, std::move(body)});
  ++version_;
  return ok();
}

void MemoryJournal::post(const RunId& run, std::int64_t at_ms, std::string body,
                         StatusCallback done) {
  std::weak_ptr<char> alive = alive_;
  loop_.post([alive, outcome = put(run, at_ms, std::move(body)), done = std::move(done)]() mutable {
    if (!alive.expired()) done(std::move(outcome));
  });
}

Status MemoryJournal::take_away(const RunId& run, std::uint64_t epoch,
                                const std::vector<std::uint64_t>& rows) {
  Run* known = find(run);
  if (!known) return no_such_run(run);
  PAWL_CHECK(check_epoch(run, epoch));
  std::erase_if(known->inbox, [&](const InboxRow& row) {
    return std::find(rows.begin(), rows.end(), row.row) != rows.end();
  });
  ++version_;
  return ok();
}

void MemoryJournal::drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
                         StatusCallback done) {
  std::weak_ptr<char> alive = alive_;
  loop_.post([alive, outcome = take_away(run, epoch, rows), done = std::move(done)]() mutable {
    if (!alive.expired()) done(std::move(outcome));
  });
}

Result<std::vector<RunId>> MemoryJournal::addressed() {
  std::vector<RunId> found;
  for (const auto& [id, run] : runs_) {
    if (!run.inbox.empty()) found.push_back(RunId{id});
  }
  return found;
}

Result<std::vector<InboxRow>> MemoryJournal::pending(const RunId& run) {
  const Run* known = find(run);
  return known ? known->inbox : std::vector<InboxRow>{};
}

Status MemoryJournal::erase(const RunId& run) {
  if (!find(run)) return no_such_run(run);
  if (driven_->contains(run.text)) return conflict(run, "is driven by someone else");
  runs_.erase(run.text);
  ++version_;
  return ok();
}

void MemoryJournal::remove(const RunId& run, StatusCallback done) {
  std::weak_ptr<char> alive = alive_;
  loop_.post([alive, outcome = erase(run), done = std::move(done)]() mutable {
    if (!alive.expired()) done(std::move(outcome));
  });
}

void MemoryJournal::compact(std::function<void(Result<std::uint64_t>)> done) {
  std::weak_ptr<char> alive = alive_;
  loop_.post([alive, done = std::move(done)] {
    if (!alive.expired()) done(std::uint64_t{0});  // What is removed has been freed.
  });
}

Result<std::vector<KeptBlob>> MemoryJournal::kept_blobs(const RunId& run) {
  const Run* known = find(run);
  if (!known) return no_such_run(run);
  std::vector<KeptBlob> kept;
  for (const auto& [digest, bytes] : known->blobs) kept.push_back({digest, bytes.size()});
  return kept;
}

Status MemoryJournal::let_go(const Expiry& expiry) {
  Run* known = find(expiry.run);
  if (driven_->contains(expiry.run.text)) return conflict(expiry.run, "is driven by someone else");
  if (!known) return no_such_run(expiry.run);
  PAWL_CHECK(check_length(expiry.run, known->records.size(), expiry.length));
  for (const Digest& digest : expiry.blobs) {
    if (known->blobs.erase(digest) > 0) known->expired[digest] = expiry.at_ms;
  }
  ++version_;
  return ok();
}

void MemoryJournal::expire(Expiry expiry, StatusCallback done) {
  std::weak_ptr<char> alive = alive_;
  loop_.post([alive, outcome = let_go(expiry), done = std::move(done)]() mutable {
    if (!alive.expired()) done(std::move(outcome));
  });
}

Result<StoreSize> MemoryJournal::size() {
  StoreSize size;
  for (const auto& [id, run] : runs_) size.bytes += bytes_of(run);
  return size;
}

Result<std::vector<RunSize>> MemoryJournal::run_sizes() {
  std::vector<RunSize> sizes;
  for (const auto& [id, run] : runs_) sizes.push_back({RunId{id}, bytes_of(run)});
  return sizes;
}

}  // namespace pawl
