#include "pawl/adapter/journal_sqlite/reader.h"

#include <algorithm>
#include <limits>

#include "pawl/adapter/journal_sqlite/expiry.h"
#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/adapter/journal_sqlite/removal.h"
#include "pawl/adapter/journal_sqlite/run_row.h"
#include "pawl/adapter/journal_sqlite/store_row.h"
#include "pawl/adapter/journal_sqlite/writes.h"
#include "pawl/port/journal_checks.h"
#include "pawl/words.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kRead =
    "SELECT journal.id, journal.seq, payload, chain FROM places JOIN journal ON "
    "journal.id = places.id WHERE places.run = ? AND places.seq >= ? ORDER BY places.seq";
constexpr const char* kReadRow = "SELECT id, seq, payload, chain FROM journal WHERE id = ?";
constexpr const char* kBlob = "SELECT bytes FROM blobs WHERE run = ? AND digest = ?";
constexpr const char* kSnapshot = "SELECT seq, chain, digest, state FROM snapshots WHERE run = ?";
constexpr const char* kAddressed =
    "SELECT id FROM runs WHERE no IN (SELECT DISTINCT run FROM inbox)";
// In one look: between two of them a message may come or go.
constexpr const char* kPending =
    "SELECT inbox.id, at, body, inbox.sum, messages FROM runs LEFT JOIN inbox ON inbox.run = no "
    "WHERE no = ? ORDER BY inbox.id LIMIT ?";
constexpr const char* kVersion = "PRAGMA data_version";
#define PAWL_SUMMARY_COLUMNS \
  "SELECT " PAWL_RUN_COLUMNS \
  ", (SELECT coalesce(max(seq) + 1, 0) FROM places WHERE places.run = runs.no) FROM runs "
// A row whose status is no word is damaged, and comes with every status: it must not be overlooked.
#define PAWL_SUMMARY_FILTER                                                                      \
  "(?1 = '' OR tenant = ?1) AND (?2 = '' OR status = ?2 OR status NOT IN ('queued', 'running', " \
  "'waiting', 'done', 'stopped', 'failed', 'cancelled', 'quarantined')) AND no < ?4 "
// Numbers are given in order of creation. Without a prefix the newest rows are the last of the
// table and no index must be read.
constexpr const char* kList =
    PAWL_SUMMARY_COLUMNS "WHERE " PAWL_SUMMARY_FILTER "ORDER BY no DESC LIMIT ?3";
constexpr const char* kListPrefix =
    PAWL_SUMMARY_COLUMNS "WHERE " PAWL_SUMMARY_FILTER
                         "AND id >= ?5 AND id < ?6 ORDER BY id = ?5 DESC, no DESC "
                         "LIMIT ?3";
#undef PAWL_SUMMARY_COLUMNS
#undef PAWL_SUMMARY_FILTER

constexpr char kAfterEveryIdCharacter = '\x7f';

std::int64_t clamped(std::uint64_t value) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return value > static_cast<std::uint64_t>(kMax) ? kMax : static_cast<std::int64_t>(value);
}

Result<StoredRecord> record_at(const Query& row, const RunId& run, std::uint64_t expected) {
  const auto damaged = [&](const std::string& what) {
    return Error{ErrorCode::corrupt, "row " + std::to_string(row.number_at(0)) +
                                         " of table journal, run " + run.text + ": " + what};
  };
  StoredRecord record;
  record.seq = row.unsigned_at(1);
  if (record.seq != expected) {
    return damaged("record " + std::to_string(record.seq) + " where " + std::to_string(expected) +
                   " should be");
  }
  record.bytes = std::string(row.blob_at(2));
  auto chain = digest_from_raw(row.blob_at(3));
  if (!chain) return damaged("its chain is not a digest");
  record.chain = *chain;
  return record;
}

// Either the run was removed between two looks, or a row is gone that was there.
Error missing(const RunId& run, std::uint64_t seq) {
  return Error{ErrorCode::corrupt, "record " + std::to_string(seq) + " of run " + run.text +
                                       " is no longer in table journal"};
}

// A row that does not check is shown as what it is, and the others are shown, too.
RunSummary summary_at(const Query& query) {
  RunRow row;
  const Status whole = row_at(query, row);
  if (!whole) {
    row.summary.status = name(RunStatus::quarantined);
    row.summary.reason = whole.error().message;
  }
  row.summary.length = query.unsigned_at(kRunColumns);
  row.summary.number = static_cast<std::uint64_t>(row.no);
  return std::move(row.summary);
}

Result<std::vector<RunSummary>> summaries_of(Query& query, const Tail& tail) {
  std::vector<RunSummary> summaries;
  PAWL_TRY(bool row, query.next());
  while (row) {
    summaries.push_back(summary_at(query));
    const auto last = tail.last_of(query.number_at(0));
    if (last) summaries.back().length = std::max(summaries.back().length, *last + 1);
    PAWL_TRY(row, query.next());
  }
  return summaries;
}

}  // namespace

Result<std::optional<std::int64_t>> Reader::number_of(const RunId& run) {
  PAWL_TRY(const auto row, find_run(*connection_, run));
  return row ? std::optional(row->no) : std::nullopt;
}

Result<bool> Reader::exists(const RunId& run) {
  PAWL_TRY(const auto number, number_of(run));
  return number.has_value();
}

// A batch of records that is being read.
struct Reader::Batch {
  const RunId& run;
  std::uint64_t from;
  std::size_t bytes_max;
  std::vector<StoredRecord> records = {};
  std::size_t bytes = 0;
  bool room = true;

  std::uint64_t next() const { return from + records.size(); }
  // Unless it would be too much.
  Status take(const Query& row) {
    const std::size_t more = row.blob_at(2).size();
    room = records.empty() || bytes + more <= bytes_max;
    if (!room) return ok();
    PAWL_TRY(StoredRecord record, record_at(row, run, next()));
    records.push_back(std::move(record));
    bytes += more;
    room = bytes < bytes_max;
    return ok();
  }
};

Result<std::vector<StoredRecord>> Reader::read(const RunId& run, std::uint64_t from,
                                               std::size_t bytes_max) {
  PAWL_TRY(const auto row, find_run(*connection_, run));
  if (!row) return no_such_run(run);
  Batch batch{run, from, bytes_max};
  // Rows of a run stay where they are for as long as there is the run, so what is known of them
  // will do, unless more may have been added.
  PAWL_CHECK(take_known(row->no, batch));
  if (batch.room) {
    PAWL_CHECK(refresh_tail(*connection_));
    PAWL_CHECK(take_known(row->no, batch));
  }
  // A run comes into the store with its first record, so one without any has lost them: a page of
  // another table in the place of the journal's looks like an empty one.
  if (from == 0 && batch.records.empty()) return missing(run, 0);
  if (batch.room) PAWL_CHECK(check_none_lost(*connection_, *row, batch.next()));
  return std::move(batch.records);
}

// Behind what it does not know it looks itself; now and then it also learns what has a place by
// now.
void Reader::note(const Written& written) {
  constexpr std::uint64_t kNotedMax = 4'096;
  Tail& tail = connection_->tail();
  const bool known = tail.generation.has_value() && tail.generation == written.generation;
  if (known && written.row <= tail.last_row()) return;
  if (known && written.row == tail.last_row() + 1 && ++noted_ % kNotedMax != 0) {
    return tail.add(written.run, written.seq, written.row, written.bytes);
  }
  static_cast<void>(refresh_tail(*connection_));  // whoever reads is told what is wrong
}

// What has a place and what is in the tail, as it is known now. The tail may be older than the
// places: what it lacks of them is found among them.
Status Reader::take_known(std::int64_t number, Batch& batch) {
  const Places* tail = connection_->tail().places_of(number);
  if (tail == nullptr || !tail->contains(batch.next())) {
    Query query(*connection_, kRead);
    PAWL_TRY(bool row, query.number(number).number(clamped(batch.next())).next());
    while (row) {
      PAWL_CHECK(batch.take(query));
      if (!batch.room) return ok();
      PAWL_TRY(row, query.next());
    }
  }
  if (tail == nullptr) return ok();
  for (auto place = tail->from(batch.next()); place != tail->end() && batch.room; ++place) {
    Query query(*connection_, kReadRow);
    PAWL_TRY(const bool row, query.number(place->row).next());
    if (!row) return missing(batch.run, batch.next());
    PAWL_CHECK(batch.take(query));
  }
  return ok();
}

Result<std::string> Reader::blob(const RunId& run, const Digest& digest) {
  PAWL_TRY(const auto number, number_of(run));
  if (!number) return no_such_run(run);
  Query query(*connection_, kBlob);
  PAWL_TRY(const bool found, query.number(*number).blob(digest.view()).next());
  if (!found) return no_such_blob(run, digest);
  std::string bytes(query.blob_at(0));
  if (sha256(bytes) != digest) {
    const auto gone = read_expiry_note(digest, bytes);
    return gone ? expired_blob(run, digest, *gone) : damaged_blob(run, digest);
  }
  return bytes;
}

Result<std::optional<std::int64_t>> Reader::expired_at(const RunId& run, const Digest& digest) {
  PAWL_TRY(const auto number, number_of(run));
  if (!number) return no_such_run(run);
  return sqlite::expired_at(*connection_, *number, digest);
}

Result<std::vector<KeptBlob>> Reader::kept_blobs(const RunId& run) {
  PAWL_TRY(const auto number, number_of(run));
  if (!number) return no_such_run(run);
  return sqlite::kept_blobs(*connection_, *number);
}

// A snapshot can be made again from the records, so damage to one is not an error.
Result<std::optional<StoredSnapshot>> Reader::snapshot(const RunId& run) {
  PAWL_TRY(const auto number, number_of(run));
  if (!number) return std::optional<StoredSnapshot>();
  Query query(*connection_, kSnapshot);
  const Result<bool> found = query.number(*number).next();
  if (!found && found.error().code != ErrorCode::corrupt) return found.error();
  if (!found || !*found) return std::optional<StoredSnapshot>();
  StoredSnapshot snapshot{query.unsigned_at(0), {}, std::string(query.blob_at(3))};
  const auto chain = digest_from_raw(query.blob_at(1));
  if (!chain) return std::optional<StoredSnapshot>();
  snapshot.chain = *chain;
  if (digest_of(snapshot).view() != query.blob_at(2)) return std::optional<StoredSnapshot>();
  return std::optional<StoredSnapshot>(std::move(snapshot));
}

Result<std::vector<RunSummary>> Reader::list(const ListQuery& query) {
  PAWL_CHECK(refresh_tail(*connection_));
  const std::string& prefix = query.id_prefix;
  Query statement(*connection_, prefix.empty() ? kList : kListPrefix);
  statement.text(query.tenant).text(query.status).number(clamped(query.count_max));
  statement.number(query.before == 0 ? std::numeric_limits<std::int64_t>::max()
                                     : clamped(query.before));
  const std::string end = prefix + kAfterEveryIdCharacter;
  if (!prefix.empty()) statement.text(prefix).text(end);
  return summaries_of(statement, connection_->tail());
}

// Changes when any other connection has committed: the committer's, or another process's.
Result<std::uint64_t> Reader::version() {
  Query query(*connection_, kVersion);
  PAWL_TRY(const bool row, query.next());
  if (!row) return Error{ErrorCode::unavailable, "SQLite gave no data_version"};
  return query.unsigned_at(0);
}

Result<StoreSize> Reader::size() {
  return size_of_store(*connection_);
}

Status Reader::check() {
  Query query(*connection_, "PRAGMA integrity_check(1)");
  PAWL_TRY(const bool row, query.next());
  if (!row || query.text_at(0) != "ok") {
    return Error{ErrorCode::corrupt, "pawl.db is damaged: " + std::string(query.text_at(0))};
  }
  PAWL_TRY(const Placed placed, read_placed(*connection_));
  if (!placed.damage.empty()) {
    return Error{ErrorCode::corrupt, "pawl.db is damaged: table placed " + placed.damage};
  }
  PAWL_CHECK(read_store(*connection_));
  PAWL_CHECK(refresh_tail(*connection_));
  if (const Tail& tail = connection_->tail(); !tail.is_whole()) {
    return Error{ErrorCode::corrupt,
                 "pawl.db is damaged: " +
                     (tail.gap.empty()
                          ? "row " + std::to_string(tail.damaged_rows.front()) + " of table journal"
                          : tail.gap)};
  }
  PAWL_TRY(const auto orphan, find_orphan(*connection_));
  if (!orphan) {
    PAWL_TRY(const std::string missing, missing_runs(*connection_));
    return missing.empty() ? ok()
                           : Status(Error{ErrorCode::corrupt, "pawl.db is damaged: " + missing});
  }
  return Error{ErrorCode::corrupt, "pawl.db is damaged: table runs has lost run number " +
                                       std::to_string(orphan->run) + ", of which there are " +
                                       std::to_string(orphan->records) + " records"};
}

Result<std::vector<RunSize>> Reader::run_sizes() {
  return sizes_of_runs(*connection_);
}

Result<std::vector<RunId>> Reader::addressed() {
  std::vector<RunId> runs;
  Query query(*connection_, kAddressed);
  PAWL_TRY(bool row, query.next());
  while (row) {
    runs.push_back(RunId{std::string(query.text_at(0))});
    PAWL_TRY(row, query.next());
  }
  return runs;
}

Result<std::vector<InboxRow>> Reader::pending(const RunId& run) {
  std::vector<InboxRow> rows;
  PAWL_TRY(const auto number, number_of(run));
  if (!number) return rows;
  Query query(*connection_, kPending);
  PAWL_TRY(bool row, query.number(*number).number(clamped(kInboxRowsMax)).next());
  const std::uint64_t had = row ? query.unsigned_at(4) : 0;
  while (row && !query.null_at(0)) {
    const std::int64_t id = query.number_at(0);
    if (query.number_at(3) != sum_of_message(*number, id, query.number_at(1), query.blob_at(2))) {
      return Error{ErrorCode::corrupt, "row " + std::to_string(id) + " of table inbox, run " +
                                           run.text +
                                           ", is damaged: its checksum does not fit its columns"};
    }
    rows.push_back({query.unsigned_at(0), query.number_at(1), std::string(query.blob_at(2))});
    PAWL_TRY(row, query.next());
  }
  if (rows.size() != had) return messages_lost(run, had, rows.size());
  return rows;
}

}  // namespace pawl::sqlite
