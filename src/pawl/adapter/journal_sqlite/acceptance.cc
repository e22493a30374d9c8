#include "pawl/adapter/journal_sqlite/acceptance.h"

#include <algorithm>

#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/log_owner.h"
#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/adapter/journal_sqlite/run_row.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/store_guard.h"
#include "pawl/adapter/journal_sqlite/store_row.h"
#include "pawl/adapter/journal_sqlite/writes.h"
#include "pawl/kernel/codec.h"
#include "pawl/port/loss.h"
#include "pawl/words.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kAllRuns = "SELECT " PAWL_RUN_COLUMNS "FROM runs ORDER BY no";

// A run whose own row is damaged is not driven anyway.
Result<std::vector<RunRow>> live_runs(Connection& connection) {
  std::vector<RunRow> rows;
  Query query(connection, kAllRuns);
  PAWL_TRY(bool more, query.next());
  while (more) {
    RunRow row;
    const bool whole = row_at(query, row).has_value();
    if (whole && !is_terminal(row.summary.status)) rows.push_back(std::move(row));
    PAWL_TRY(more, query.next());
  }
  return rows;
}

// A row that cannot be read is made anew: the store is another one from then on.
Status mend_store_row(Connection& connection) {
  auto row = read_store(connection);
  if (!row && row.error().code != ErrorCode::corrupt) return row.error();
  StoreRow mended = row ? *row : StoreRow{.id = random_store_id()};
  mended.marked = kMarked;
  return write_store(connection, mended);
}

// From now on what is here is all there is.
Status settle_counts(Connection& connection) {
  PAWL_CHECK(refresh_tail(connection));
  connection.tail().accept_damage();
  PAWL_CHECK(place_tail(connection));
  PAWL_TRY(auto rows, live_runs(connection));
  for (RunRow& row : rows) {
    PAWL_TRY(const std::uint64_t length, length_of(connection, row.no));
    PAWL_TRY(const std::uint64_t messages, count_messages(connection, row.no));
    if (length >= row.length && messages == row.messages) continue;
    row.length = std::min(row.length, length);
    row.messages = messages;
    PAWL_CHECK(update_run(connection, row));
  }
  return ok();
}

Status write_acceptance(Connection& connection, std::int64_t now_ms, Acceptance& acceptance) {
  PAWL_CHECK(connection.execute("BEGIN IMMEDIATE"));
  PAWL_CHECK(mend_store_row(connection));
  PAWL_CHECK(accept_missing_runs(connection));
  PAWL_CHECK(settle_counts(connection));
  PAWL_TRY(acceptance.paused, pause_live_runs(connection, now_ms));
  return connection.execute("COMMIT");
}

}  // namespace

Result<std::vector<RunId>> pause_live_runs(Connection& connection, std::int64_t now_ms) {
  const std::string pause = encode_event(PauseRequested{std::string(kPausedAfterLoss)});
  PAWL_TRY(auto rows, live_runs(connection));
  std::vector<RunId> paused;
  for (RunRow& row : rows) {
    ++row.epoch;
    PAWL_CHECK(update_run(connection, row));
    PAWL_CHECK(write_inbox(connection, row.summary.id, now_ms, pause));
    paused.push_back(row.summary.id);
  }
  return paused;
}

Result<Acceptance> accept_store(const std::string& directory, std::int64_t now_ms) {
  PAWL_TRY(OpenedDirectory opened, open_directory(directory));
  if (opened.others == OpenedDirectory::Others::some) {
    return Error{ErrorCode::unavailable,
                 directory + " is open in another process; end that one first"};
  }
  PAWL_TRY(const auto connection, Connection::open(opened.database()));
  PAWL_CHECK(prepare_schema(*connection, opened.database()));
  PAWL_CHECK(check_log_owner(*connection, opened.database()));
  PAWL_CHECK(connection->execute("PRAGMA synchronous = FULL"));
  Acceptance acceptance;
  {
    PAWL_TRY(const auto guard, StoreGuard::open(opened.path, opened.locks, *connection));
    if (guard->shortfall().none()) return acceptance;
    acceptance.why = guard->shortfall().why;
    acceptance.records = guard->shortfall().records;
    acceptance.messages = guard->shortfall().messages;
  }
  PAWL_CHECK(write_acceptance(*connection, now_ms, acceptance));
  PAWL_TRY(const auto guard, StoreGuard::open(opened.path, opened.locks, *connection));
  PAWL_CHECK(guard->accept(*connection));
  return acceptance;
}

}  // namespace pawl::sqlite
