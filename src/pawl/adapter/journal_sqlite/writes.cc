#include "pawl/adapter/journal_sqlite/writes.h"

#include <algorithm>
#include <optional>

#include "pawl/adapter/journal_sqlite/expiry.h"
#include "pawl/adapter/journal_sqlite/mark.h"
#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/adapter/journal_sqlite/row_sum.h"
#include "pawl/adapter/journal_sqlite/run_row.h"
#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/words.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kInsertRecord =
    "INSERT INTO journal (run, seq, epoch, sum, payload, chain) VALUES (?, ?, ?, ?, ?, ?)";
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
constexpr const char* kInsertMessage = "INSERT INTO inbox (run, at, body) VALUES (?, ?, ?)";
constexpr const char* kSumMessage = "UPDATE inbox SET sum = ? WHERE id = ?";

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

RunRow with_summary(RunRow row, const RunId& run, const RunSummary& summary) {
  row.summary = summary;
  row.summary.id = run;
  return row;
}

// Returns how many of them there were.
Result<std::uint64_t> take_rows(Connection& connection, std::int64_t no,
                                const std::vector<std::uint64_t>& rows) {
  std::uint64_t taken = 0;
  for (const std::uint64_t row : rows) {
    PAWL_CHECK(Query(connection, kTakeRow).number(row).number(no).run());
    taken += static_cast<std::uint64_t>(sqlite3_changes64(connection.handle()));
  }
  return taken;
}

// The row of a run that was there is changed only if something in it changes: most appends leave it
// alone, which saves a page of the log.
Status note_append(Connection& connection, RunRow row, const Append& append, std::uint64_t taken) {
  if (!append.summary && row.loads == 0 && taken == 0) return ok();
  if (append.summary) row = with_summary(std::move(row), append.run, *append.summary);
  row.loads = 0;
  row.length = append.seq + 1;
  row.messages -= std::min(row.messages, taken);
  return update_run(connection, row);
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
                 .number(sum_of_record(no, append.seq, append.epoch))
                 .blob(append.bytes)
                 .blob(append.chain.view())
                 .run());
  connection.tail().add(no, append.seq, sqlite3_last_insert_rowid(connection.handle()),
                        append.bytes.size());
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

std::int64_t sum_of_message(std::int64_t run, std::int64_t id, std::int64_t at_ms,
                            std::string_view body) {
  return RowSum("inbox").number(run).number(id).number(at_ms).text(body).finish();
}

Error messages_lost(const RunId& run, std::uint64_t had, std::uint64_t found) {
  return Error{ErrorCode::corrupt, "table inbox is damaged: run " + run.text + " has " +
                                       std::to_string(had) + " messages, and " +
                                       std::to_string(found) + " can be found"};
}

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

// When nothing of the append can fail any more.
void note_newest(Connection& connection, const Append& append) {
  Newest& newest = connection.newest();
  newest.generation = connection.tail().generation.value_or(newest.generation);
  newest.row = connection.tail().last_row();
  newest.chain = chain_prefix(append.chain.view());
}

// Most appends, all but those that take messages: what is there need not be looked up.
Status append_to_known(Connection& connection, KnownRun& known, const Append& append) {
  PAWL_CHECK(check_position(append, known.epoch, known.length));
  PAWL_CHECK(check_inbox_empty(connection, append, known.no));
  if (append.summary) {
    RunRow row;
    row.no = known.no;
    row.epoch = known.epoch;
    row.messages = known.messages;
    PAWL_CHECK(note_append(connection, std::move(row), append, 0));
  }
  PAWL_CHECK(write_content(connection, known.no, append));
  PAWL_CHECK(write_snapshot(connection, known.no, append));
  known.length = append.seq + 1;
  note_newest(connection, append);
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
  if (known != nullptr && append.inbox_taken.empty()) {
    return append_to_known(connection, *known, append);
  }
  PAWL_TRY(const auto row, find_run(connection, append.run));
  std::uint64_t length = 0;
  if (row) {
    PAWL_TRY(length, length_of(connection, row->no));
  }
  const std::uint64_t epoch = row ? row->epoch : 1;
  PAWL_CHECK(check_position(append, epoch, length));
  std::int64_t no = 0;
  std::uint64_t messages = 0;
  if (row) {
    no = row->no;
    PAWL_CHECK(check_inbox_empty(connection, append, no));
    PAWL_TRY(const std::uint64_t taken, take_rows(connection, no, append.inbox_taken));
    PAWL_CHECK(note_append(connection, *row, append, taken));
    messages = row->messages - std::min(row->messages, taken);
  } else {
    RunRow made = with_summary(RunRow{}, append.run, *append.summary);
    made.length = 1;
    PAWL_CHECK(insert_run(connection, made));
    no = made.no;
  }
  PAWL_CHECK(write_content(connection, no, append));
  PAWL_CHECK(write_snapshot(connection, no, append));
  connection.known_runs().keep(append.run.text, {no, epoch, append.seq + 1, messages});
  note_newest(connection, append);
  return ok();
}

Status write_inbox(Connection& connection, const RunId& run, std::int64_t at_ms,
                   const std::string& body) {
  PAWL_TRY(auto row, find_run(connection, run));
  if (!row) return no_such_run(run);
  const std::string& status = row->summary.status;
  if (is_terminal(status)) return conflict(run, "has ended: " + status);
  if (row->messages >= kInboxRowsMax) {
    return Error{ErrorCode::limit_exceeded, "the inbox of run " + run.text + " is full: " +
                                                std::to_string(kInboxRowsMax) + " rows wait"};
  }
  PAWL_CHECK(check_unanswered(connection, run, row->no, body));
  PAWL_CHECK(Query(connection, kInsertMessage).number(row->no).number(at_ms).blob(body).run());
  const std::int64_t id = sqlite3_last_insert_rowid(connection.handle());
  const std::int64_t sum = sum_of_message(row->no, id, at_ms, body);
  PAWL_CHECK(Query(connection, kSumMessage).number(sum).number(id).run());
  ++row->messages;
  PAWL_CHECK(update_run(connection, *row));
  connection.known_runs().forget(run.text);
  connection.newest().message = id;
  return ok();
}

Status write_drop(Connection& connection, const RunId& run, std::uint64_t epoch,
                  const std::vector<std::uint64_t>& rows) {
  PAWL_TRY(auto row, find_run(connection, run));
  if (!row) return no_such_run(run);
  if (row->epoch != epoch) return wrong_epoch(run, row->epoch, epoch);
  PAWL_TRY(const std::uint64_t taken, take_rows(connection, row->no, rows));
  row->messages -= std::min(row->messages, taken);
  connection.known_runs().forget(run.text);
  return update_run(connection, *row);
}

Result<std::uint64_t> count_messages(Connection& connection, std::int64_t run) {
  Query count(connection, kCountRows);
  PAWL_TRY(const bool counted, count.number(run).next());
  return counted ? count.unsigned_at(0) : std::uint64_t{0};
}

Status write_forgiven(Connection& connection, const RunId& run, std::uint64_t epoch) {
  PAWL_TRY(auto row, find_run(connection, run));
  if (!row) return no_such_run(run);
  if (row->epoch != epoch) return wrong_epoch(run, row->epoch, epoch);
  if (row->loads > 0) --row->loads;
  return update_run(connection, *row);
}

Status write_lifted(Connection& connection, const RunSummary& summary, std::int64_t now_ms) {
  PAWL_TRY(auto row, find_run(connection, summary.id));
  if (!row) return no_such_run(summary.id);
  if (!row->quarantine) return conflict(summary.id, "has no quarantine that could be lifted");
  row->summary.status = summary.status;
  row->summary.reason = summary.reason;
  row->summary.updated_at_ms = now_ms;
  row->quarantine.reset();
  row->loads = 0;
  return update_run(connection, *row);
}

Status write_quarantine(Connection& connection, const RunId& run, const std::string& why,
                        std::int64_t now_ms) {
  PAWL_TRY(auto row, find_run(connection, run));
  if (!row) return no_such_run(run);
  connection.known_runs().forget();
  row->summary.status = name(RunStatus::quarantined);
  row->summary.reason = why;
  row->summary.updated_at_ms = now_ms;
  row->quarantine = why;
  ++row->epoch;
  return update_run(connection, *row);
}

namespace {

// Not as many records or messages as the row of the run says.
Status check_whole(Connection& connection, const RunRow& row, std::uint64_t length) {
  PAWL_CHECK(check_none_lost(connection, row, length));
  PAWL_TRY(const std::uint64_t found, count_messages(connection, row.no));
  return found == row.messages ? ok() : Status(messages_lost(row.summary.id, row.messages, found));
}

}  // namespace

Result<Position> write_acquire(Connection& connection, const RunId& run, std::int64_t now_ms) {
  PAWL_TRY(auto row, find_run(connection, run));
  Position position;
  if (!row) return position;
  position.quarantined = row->held_back();
  if (position.quarantined) return position;
  if (row->loads >= kFailedLoadsMax) {
    position.quarantined = loaded_in_vain(row->loads);
    PAWL_CHECK(write_quarantine(connection, run, *position.quarantined, now_ms));
    return position;
  }
  PAWL_CHECK(ensure_tail(connection));
  PAWL_TRY(position.length, length_of(connection, row->no));
  const Status whole = check_whole(connection, *row, position.length);
  if (!whole && whole.error().code != ErrorCode::corrupt) return whole.error();
  if (!whole) {
    position.quarantined = whole.error().message;
    PAWL_CHECK(write_quarantine(connection, run, *position.quarantined, now_ms));
    return position;
  }
  if (const std::string& gap = connection.tail().gap; !gap.empty()) {
    return Error{ErrorCode::corrupt, gap +
                                         ", and nobody knows whose they were: pawl.db is damaged; "
                                         "restore the directory from a backup (pawl restore), or "
                                         "go on without them (pawl doctor --accept)"};
  }
  ++row->epoch;
  ++row->loads;
  row->length = position.length;
  PAWL_CHECK(update_run(connection, *row));
  connection.known_runs().forget();
  position.epoch = row->epoch;
  return position;
}

}  // namespace pawl::sqlite
