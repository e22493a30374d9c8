#include "pawl/adapter/journal_sqlite/writes.h"

#include <algorithm>
#include <optional>

#include "pawl/adapter/journal_sqlite/expiry.h"
#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/kernel/codec.h"
#include "pawl/kernel/words.h"
#include "pawl/port/journal_checks.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kFindRun =
    "SELECT no, epoch, loads, status, "
    "coalesce(quarantine, CASE status WHEN 'quarantined' THEN reason END) FROM runs WHERE id = ?";
constexpr const char* kInsertRun =
    "INSERT INTO runs (id, tenant, name, status, reason, created_at, updated_at, epoch, loads) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, 1, 0)";
constexpr const char* kUpdateSummary =
    "UPDATE runs SET tenant = ?, name = ?, status = ?, reason = ?, created_at = ?, "
    "updated_at = ?, loads = 0 WHERE no = ?";
constexpr const char* kForgiveLoads = "UPDATE runs SET loads = 0 WHERE no = ?";
constexpr const char* kInsertRecord =
    "INSERT INTO journal (run, seq, epoch, payload, chain) VALUES (?, ?, ?, ?, ?)";
constexpr const char* kInsertNote =
    "INSERT INTO blobs (run, digest, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
// Bytes that come again take the place of the note that they had expired.
constexpr const char* kInsertBytes =
    "INSERT INTO blobs (run, digest, bytes) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "
    "bytes = excluded.bytes WHERE length(bytes) < 100 AND bytes <> excluded.bytes";
constexpr const char* kPutSnapshot =
    "INSERT INTO snapshots (run, seq, chain, digest, state) VALUES (?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT DO UPDATE SET seq = ?2, chain = ?3, digest = ?4, state = ?5";
constexpr const char* kDropSnapshot = "DELETE FROM snapshots WHERE run = ?";
constexpr const char* kTakeRow = "DELETE FROM inbox WHERE id = ? AND run = ?";
constexpr const char* kCountRows = "SELECT count(*) FROM inbox WHERE run = ?";
constexpr const char* kWaitingRows = "SELECT id FROM inbox WHERE run = ?";
constexpr const char* kWaitingBodies = "SELECT body FROM inbox WHERE run = ?";
constexpr const char* kInsertRow = "INSERT INTO inbox (run, at, body) VALUES (?, ?, ?)";
constexpr const char* kQuarantine =
    "UPDATE runs SET status = 'quarantined', reason = ?1, quarantine = ?1, updated_at = ?2, "
    "epoch = epoch + 1 WHERE no = ?3";
constexpr const char* kRaiseEpoch =
    "UPDATE runs SET epoch = epoch + 1, loads = loads + 1 WHERE no = ?";

constexpr const char* kForgiveOne = "UPDATE runs SET loads = max(loads - 1, 0) WHERE no = ?";
constexpr const char* kLiftQuarantine =
    "UPDATE runs SET status = ?, reason = ?, quarantine = NULL, loads = 0, updated_at = ? "
    "WHERE no = ? AND quarantine IS NOT NULL";

struct RunRow {
  std::int64_t no = 0;
  std::uint64_t epoch = 0;
  std::int64_t loads = 0;
  std::string status;
  std::optional<std::string> quarantine;
};

Result<std::optional<RunRow>> find_run(Connection& connection, const RunId& run) {
  Query query(connection, kFindRun);
  PAWL_TRY(const bool found, query.text(run.text).next());
  if (!found) return std::optional<RunRow>();
  RunRow row{query.number_at(0), query.unsigned_at(1), query.number_at(2),
             std::string(query.text_at(3)), std::nullopt};
  if (!query.null_at(4)) row.quarantine = std::string(query.text_at(4));
  return std::optional<RunRow>(std::move(row));
}

Error wrong_epoch(const RunId& run, std::uint64_t is, std::uint64_t given) {
  return conflict(run, "is at epoch " + std::to_string(is) + ", not " + std::to_string(given));
}

Status check_position(const Append& append, std::uint64_t epoch, std::uint64_t length) {
  if (append.epoch != epoch) return wrong_epoch(append.run, epoch, append.epoch);
  PAWL_CHECK(check_length(append.run, length, append.seq));
  if (append.seq == 0 && !append.summary) {
    return Error{ErrorCode::invalid_argument, "the first record of a run needs a summary"};
  }
  return ok();
}

// A run that is over is looked at by no driver: it ends with an empty inbox.
Status check_inbox_empty(Connection& connection, const Append& append, std::int64_t no) {
  if (!ends_run(append)) return ok();
  Query rows(connection, kWaitingRows);
  rows.number(no);
  while (true) {
    PAWL_TRY(const bool more, rows.next());
    if (!more) return ok();
    const auto& taken = append.inbox_taken;
    const bool takes = std::find(taken.begin(), taken.end(), rows.unsigned_at(0)) != taken.end();
    if (!takes) return inbox_waits(append.run);
  }
}

Status insert_run(Connection& connection, const RunId& run, const RunSummary& summary) {
  return Query(connection, kInsertRun)
      .text(run.text)
      .text(summary.tenant)
      .text(summary.name)
      .text(summary.status)
      .text(summary.reason)
      .number(summary.created_at_ms)
      .number(summary.updated_at_ms)
      .run();
}

// The row of a run that was there is changed only if something in it changes: most appends leave it
// alone, which saves a page of the log.
Status update_run(Connection& connection, const RunRow& row, const Append& append) {
  if (append.summary) {
    const RunSummary& summary = *append.summary;
    return Query(connection, kUpdateSummary)
        .text(summary.tenant)
        .text(summary.name)
        .text(summary.status)
        .text(summary.reason)
        .number(summary.created_at_ms)
        .number(summary.updated_at_ms)
        .number(row.no)
        .run();
  }
  if (row.loads == 0) return ok();
  return Query(connection, kForgiveLoads).number(row.no).run();
}

Status write_blob(Connection& connection, std::int64_t no, const StoredBlob& blob) {
  if (!blob.expired_at_ms) {
    Query insert(connection, kInsertBytes);
    return insert.number(no).blob(blob.digest.view()).blob(blob.bytes).run();
  }
  const std::string note = expiry_note(blob.digest, *blob.expired_at_ms);
  Query insert(connection, kInsertNote);
  return insert.number(no).blob(blob.digest.view()).blob(note).run();
}

Status write_content(Connection& connection, std::int64_t no, const Append& append) {
  for (const StoredBlob& blob : append.blobs) {
    PAWL_CHECK(write_blob(connection, no, blob));
  }
  PAWL_CHECK(Query(connection, kInsertRecord)
                 .number(no)
                 .number(append.seq)
                 .number(append.epoch)
                 .blob(append.bytes)
                 .blob(append.chain.view())
                 .run());
  connection.tail().add(no, append.seq, sqlite3_last_insert_rowid(connection.handle()),
                        append.bytes.size());
  for (const std::uint64_t row : append.inbox_taken) {
    PAWL_CHECK(Query(connection, kTakeRow).number(row).number(no).run());
  }
  return ok();
}

Status write_snapshot(Connection& connection, std::int64_t no, const Append& append) {
  if (append.snapshots == Append::Snapshots::drop) {
    return Query(connection, kDropSnapshot).number(no).run();
  }
  if (!append.snapshot) return ok();
  const Digest digest = digest_of(*append.snapshot);
  return Query(connection, kPutSnapshot)
      .number(no)
      .number(append.snapshot->seq)
      .blob(append.snapshot->chain.view())
      .blob(digest.view())
      .blob(append.snapshot->state)
      .run();
}

}  // namespace

Digest digest_of(const StoredSnapshot& snapshot) {
  return Sha256()
      .add(std::to_string(snapshot.seq) + ":")
      .add(snapshot.chain.view())
      .add(snapshot.state)
      .finish();
}

std::size_t size_of(const Append& append) {
  std::size_t size = append.bytes.size();
  for (const StoredBlob& blob : append.blobs) size += blob.bytes.size();
  return size + (append.snapshot ? append.snapshot->state.size() : 0);
}

namespace {

// Most appends: what is there need not be looked up.
Status append_to_known(Connection& connection, KnownRun& known, const Append& append) {
  PAWL_CHECK(check_position(append, known.epoch, known.length));
  PAWL_CHECK(check_inbox_empty(connection, append, known.no));
  if (append.summary) {
    PAWL_CHECK(update_run(connection, RunRow{known.no, known.epoch, 0, {}, {}}, append));
  }
  PAWL_CHECK(write_content(connection, known.no, append));
  PAWL_CHECK(write_snapshot(connection, known.no, append));
  known.length = append.seq + 1;
  return ok();
}

// Of the answers to one question one may wait.
Status check_unanswered(Connection& connection, const RunId& run, std::int64_t no,
                        const std::string& body) {
  const auto question = question_of(body);
  if (!question) return ok();
  Query rows(connection, kWaitingBodies);
  rows.number(no);
  while (true) {
    PAWL_TRY(const bool more, rows.next());
    if (!more) return ok();
    if (question_of(rows.blob_at(0)) == question) return conflict(run, kAnsweredBefore);
  }
}

}  // namespace

Status write_append(Connection& connection, const Append& append) {
  PAWL_CHECK(ensure_tail(connection));
  KnownRun* const known = connection.known_runs().find(append.run.text);
  if (known != nullptr) return append_to_known(connection, *known, append);
  PAWL_TRY(const auto row, find_run(connection, append.run));
  std::uint64_t length = 0;
  if (row) {
    PAWL_TRY(length, length_of(connection, row->no));
  }
  const std::uint64_t epoch = row ? row->epoch : 1;
  PAWL_CHECK(check_position(append, epoch, length));
  std::int64_t no = 0;
  if (row) {
    no = row->no;
    PAWL_CHECK(check_inbox_empty(connection, append, no));
    PAWL_CHECK(update_run(connection, *row, append));
  } else {
    PAWL_CHECK(insert_run(connection, append.run, *append.summary));
    no = sqlite3_last_insert_rowid(connection.handle());
  }
  PAWL_CHECK(write_content(connection, no, append));
  PAWL_CHECK(write_snapshot(connection, no, append));
  connection.known_runs().keep(append.run.text, {no, epoch, append.seq + 1});
  return ok();
}

Status write_inbox(Connection& connection, const RunId& run, std::int64_t at_ms,
                   const std::string& body) {
  PAWL_TRY(const auto row, find_run(connection, run));
  if (!row) return no_such_run(run);
  if (is_terminal(row->status)) return conflict(run, "has ended: " + row->status);
  {
    Query count(connection, kCountRows);
    PAWL_TRY(const bool counted, count.number(row->no).next());
    if (counted && count.unsigned_at(0) >= kInboxRowsMax) {
      return Error{ErrorCode::limit_exceeded, "the inbox of run " + run.text + " is full: " +
                                                  std::to_string(kInboxRowsMax) + " rows wait"};
    }
  }
  PAWL_CHECK(check_unanswered(connection, run, row->no, body));
  return Query(connection, kInsertRow).number(row->no).number(at_ms).blob(body).run();
}

Status write_drop(Connection& connection, const RunId& run, std::uint64_t epoch,
                  const std::vector<std::uint64_t>& rows) {
  PAWL_TRY(const auto row, find_run(connection, run));
  if (!row) return no_such_run(run);
  if (row->epoch != epoch) return wrong_epoch(run, row->epoch, epoch);
  for (const std::uint64_t one : rows) {
    PAWL_CHECK(Query(connection, kTakeRow).number(one).number(row->no).run());
  }
  return ok();
}

Status write_forgiven(Connection& connection, const RunId& run, std::uint64_t epoch) {
  PAWL_TRY(const auto row, find_run(connection, run));
  if (!row) return no_such_run(run);
  if (row->epoch != epoch) return wrong_epoch(run, row->epoch, epoch);
  return Query(connection, kForgiveOne).number(row->no).run();
}

Status write_lifted(Connection& connection, const RunSummary& summary, std::int64_t now_ms) {
  PAWL_TRY(const auto row, find_run(connection, summary.id));
  if (!row) return no_such_run(summary.id);
  PAWL_CHECK(Query(connection, kLiftQuarantine)
                 .text(summary.status)
                 .text(summary.reason)
                 .number(now_ms)
                 .number(row->no)
                 .run());
  if (sqlite3_changes(connection.handle()) > 0) return ok();
  return conflict(summary.id, "has no quarantine that could be lifted");
}

Status write_quarantine(Connection& connection, const RunId& run, const std::string& why,
                        std::int64_t now_ms) {
  PAWL_TRY(const auto row, find_run(connection, run));
  if (!row) return no_such_run(run);
  connection.known_runs().forget();
  return Query(connection, kQuarantine).text(why).number(now_ms).number(row->no).run();
}

Result<Position> write_acquire(Connection& connection, const RunId& run, std::int64_t now_ms) {
  PAWL_TRY(const auto row, find_run(connection, run));
  Position position;
  if (!row) return position;
  if (row->quarantine) {
    position.quarantined = *row->quarantine;
    return position;
  }
  if (row->loads >= kFailedLoadsMax) {
    position.quarantined = loaded_in_vain(row->loads);
    PAWL_CHECK(write_quarantine(connection, run, *position.quarantined, now_ms));
    return position;
  }
  PAWL_CHECK(ensure_tail(connection));
  PAWL_CHECK(Query(connection, kRaiseEpoch).number(row->no).run());
  connection.known_runs().forget();
  position.epoch = row->epoch + 1;
  PAWL_TRY(position.length, length_of(connection, row->no));
  return position;
}

}  // namespace pawl::sqlite
