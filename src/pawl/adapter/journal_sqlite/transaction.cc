#include "pawl/adapter/journal_sqlite/transaction.h"

#include <algorithm>
#include <utility>

#include "pawl/adapter/journal_sqlite/log_owner.h"
#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/adapter/journal_sqlite/writes.h"

namespace pawl::sqlite {
namespace {

Error failed_before(const std::string& run) {
  return Error{ErrorCode::conflict, "an append of run " + run + " before this one failed"};
}

}  // namespace

Status Transaction::write(Group& group, const More& more) {
  PAWL_CHECK(begin());
  std::size_t first = 0;
  Traces traces = Traces::none;
  do {
    const bool is_first_part = first == 0;
    PAWL_TRY(traces, try_jobs(group, std::exchange(first, group.size()), Savepoints::for_others));
    if (is_first_part && traces == Traces::none) PAWL_CHECK(place_some_of_tail());
  } while (traces == Traces::none && more(group));
  if (traces == Traces::left) {
    PAWL_CHECK(Query(connection_, "ROLLBACK").run());
    connection_.forget();
    PAWL_CHECK(begin());
    PAWL_CHECK(try_jobs(group, 0, Savepoints::for_all));
  }
  const Tail& tail = connection_.tail();
  if (tail.is_current && tail.is_far_too_long()) PAWL_CHECK(place_tail(connection_));
  last_jobs_ = group.size();
  PAWL_CHECK(Query(connection_, "COMMIT").run());
  if (guard_ != nullptr) guard_->log_was_named();
  return ok();
}

// Before the rest of a large round has come: the loop still works on it.
Status Transaction::place_some_of_tail() {
  if (!is_placing()) return ok();
  return place_some(connection_, std::max(kPlacedMin, last_jobs_ * kPlacedForEachNew));
}

bool Transaction::is_placing() const {
  const Tail& tail = connection_.tail();
  return tail.is_current && (tail.placing || tail.is_too_long());
}

Status Transaction::begin() {
  failed_.clear();
  PAWL_CHECK(Query(connection_, "BEGIN IMMEDIATE").run());
  PAWL_TRY(const bool others, connection_.others_have_written());
  PAWL_CHECK(prepare_guard(others));
  if (!others) return ok();
  connection_.tail().is_current = false;
  connection_.known_runs().forget();
  return ok();
}

Status Transaction::prepare_guard(bool others_have_written) {
  if (guard_ == nullptr) return ok();
  guard_->begin(connection_, others_have_written);
  return guard_->log_is_unnamed() ? bind_log(connection_) : ok();
}

bool Transaction::is_behind_a_failure(const std::string& run) const {
  if (run.empty()) return false;
  return order_.has_failed(run) || std::find(failed_.begin(), failed_.end(), run) != failed_.end();
}

Result<Transaction::Traces> Transaction::try_jobs(Group& group, std::size_t first,
                                                  Savepoints savepoints) {
  for (std::size_t i = first; i < group.size(); ++i) {
    Entry& entry = *group[i];
    const std::string& run = entry.job.of_run();
    if (is_behind_a_failure(run)) {
      entry.outcome = failed_before(run);
    } else {
      PAWL_TRY(const Traces traces, do_job(entry, savepoints));
      if (traces == Traces::left) return traces;
    }
    if (!*entry.outcome && !run.empty()) failed_.push_back(run);
  }
  return Traces::none;
}

// An append looks before it changes anything, so that it is done without a savepoint, which would
// cost more than the append itself.
Result<Transaction::Traces> Transaction::do_job(Entry& entry, Savepoints savepoints) {
  const Job& job = entry.job;
  if (entry.waiter && entry.waiter->abandoned) {
    entry.outcome = Error{ErrorCode::cancelled, "nobody waits for it any more"};
    return Traces::none;
  }
  const bool undone = savepoints == Savepoints::for_all || job.of_run().empty();
  if (undone) PAWL_CHECK(Query(connection_, "SAVEPOINT job").run());
  const std::int64_t changes = sqlite3_total_changes64(connection_.handle());
  entry.outcome = job.append ? write_append(connection_, *job.append) : job.work(connection_);
  entry.written.reset();
  if (job.append && *entry.outcome) entry.written = connection_.tail().newest();
  Traces traces = Traces::none;
  if (!*entry.outcome) {
    if (connection_.fault() == Fault::toobig) connection_.clear_fault();
    if (connection_.fault() != Fault::none) return entry.outcome->error();
    const bool changed = sqlite3_total_changes64(connection_.handle()) != changes;
    if (changed && !undone) traces = Traces::left;
    if (undone) {
      PAWL_CHECK(Query(connection_, "ROLLBACK TO job").run());
      connection_.forget();
    }
  }
  if (undone) PAWL_CHECK(Query(connection_, "RELEASE job").run());
  return traces;
}

}  // namespace pawl::sqlite
