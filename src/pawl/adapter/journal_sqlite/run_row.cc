#include "pawl/adapter/journal_sqlite/run_row.h"

#include "pawl/adapter/journal_sqlite/row_sum.h"
#include "pawl/adapter/journal_sqlite/store_row.h"
#include "pawl/words.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kFindRow = "SELECT " PAWL_RUN_COLUMNS "FROM runs WHERE id = ?";
constexpr const char* kFindNumber = "SELECT " PAWL_RUN_COLUMNS "FROM runs WHERE no = ?";
constexpr const char* kInsertRow =
    "INSERT INTO runs (id, tenant, name, status, reason, created_at, updated_at, epoch, loads, "
    "quarantine, length, messages) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kUpdateRow =
    "UPDATE runs SET tenant = ?, name = ?, status = ?, reason = ?, created_at = ?, "
    "updated_at = ?, epoch = ?, loads = ?, quarantine = ?, length = ?, messages = ?, "
    "sum = ? WHERE no = ?";
// The numbers of runs have no gaps but those that removals left. All in one statement: other
// processes may be adding runs. The second column is how many the index has.
constexpr const char* kCountRuns =
    "SELECT (SELECT count(*) FROM runs NOT INDEXED), "
    "(SELECT count(*) FROM runs INDEXED BY sqlite_autoindex_runs_1), "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'runs'), 0), removed FROM store";
// The entries of the index before and after the place where an id is not.
constexpr const char* kEntryBefore =
    "SELECT id, no FROM runs INDEXED BY sqlite_autoindex_runs_1 WHERE id < ? "
    "ORDER BY id DESC LIMIT 1";
constexpr const char* kEntryAfter =
    "SELECT id, no FROM runs INDEXED BY sqlite_autoindex_runs_1 WHERE id > ? ORDER BY id LIMIT 1";
constexpr const char* kIdOfNumber = "SELECT id FROM runs NOT INDEXED WHERE no = ?";
constexpr const char* kSetSum = "UPDATE runs SET sum = ? WHERE no = ?";

std::int64_t sum_of(const RunRow& row) {
  const RunSummary& summary = row.summary;
  RowSum sum("runs");
  sum.number(row.no).text(summary.id.text).text(summary.tenant).text(summary.name);
  sum.text(summary.status).text(summary.reason);
  sum.number(summary.created_at_ms).number(summary.updated_at_ms);
  sum.number(row.epoch).number(row.loads).text_or_none(row.quarantine);
  return sum.number(row.length).number(row.messages).finish();
}

// All but the number and the id, which stay.
void bind_columns(Query& query, const RunRow& row) {
  const RunSummary& summary = row.summary;
  query.text(summary.tenant).text(summary.name);
  query.text(summary.status).text(summary.reason);
  query.number(summary.created_at_ms).number(summary.updated_at_ms);
  query.number(row.epoch).number(row.loads);
  if (row.quarantine) {
    query.text(*row.quarantine);
  } else {
    query.null();
  }
  query.number(row.length).number(row.messages);
}

Error damaged_index(std::int64_t number, const std::string& found) {
  return Error{ErrorCode::corrupt, "the index of table runs is damaged: it has row " +
                                       std::to_string(number) + " for run " + found};
}

// An id that a flipped bit changed in the index hides its run, which could then be started again.
// It is still next to the place where the id belongs.
Status check_entry(Connection& connection, const char* neighbour, const RunId& absent) {
  Query entry(connection, neighbour);
  PAWL_TRY(const bool found, entry.text(absent.text).next());
  if (!found) return ok();
  const std::string id(entry.text_at(0));
  const std::int64_t number = entry.number_at(1);
  Query row(connection, kIdOfNumber);
  PAWL_TRY(const bool exists, row.number(number).next());
  if (exists && row.text_at(0) == id) return ok();
  return damaged_index(number, id + ", which that row is not");
}

struct RunCounts {
  std::int64_t rows = 0;
  std::int64_t indexed = 0;
  std::int64_t given = 0;  // numbers
  std::int64_t removed = 0;
};

Result<RunCounts> count_runs(Connection& connection) {
  Query query(connection, kCountRuns);
  PAWL_TRY(const bool found, query.next());
  if (!found) return RunCounts{};
  return RunCounts{query.number_at(0), query.number_at(1), query.number_at(2), query.number_at(3)};
}

}  // namespace

Result<std::string> missing_runs(Connection& connection) {
  PAWL_TRY(const RunCounts counts, count_runs(connection));
  const std::int64_t expected = counts.given - counts.removed;
  const auto differs = [expected](const std::string& what, std::int64_t found) {
    return what + " has " + std::to_string(found) + " runs and should have " +
           std::to_string(expected);
  };
  if (counts.rows != expected) return differs("table runs", counts.rows);
  if (counts.indexed != expected) return differs("the index of table runs", counts.indexed);
  return std::string();
}

Status accept_missing_runs(Connection& connection) {
  PAWL_TRY(const RunCounts counts, count_runs(connection));
  PAWL_TRY(StoreRow store, read_store(connection));
  store.removed = counts.given - counts.rows;
  PAWL_CHECK(write_store(connection, store));
  return counts.indexed == counts.rows ? ok() : connection.execute("REINDEX runs");
}

std::optional<std::string> RunRow::held_back() const {
  if (quarantine) return quarantine;
  if (summary.status == name(RunStatus::quarantined)) return summary.reason;
  return std::nullopt;
}

Status row_at(const Query& query, RunRow& row) {
  row.no = query.number_at(0);
  row.summary.id = RunId{std::string(query.text_at(1))};
  row.summary.tenant = std::string(query.text_at(2));
  row.summary.name = std::string(query.text_at(3));
  row.summary.status = std::string(query.text_at(4));
  row.summary.reason = std::string(query.text_at(5));
  row.summary.created_at_ms = query.number_at(6);
  row.summary.updated_at_ms = query.number_at(7);
  row.epoch = query.unsigned_at(8);
  row.loads = query.number_at(9);
  row.quarantine.reset();
  if (!query.null_at(10)) row.quarantine = std::string(query.text_at(10));
  row.length = query.unsigned_at(11);
  row.messages = query.unsigned_at(12);
  if (query.number_at(13) == sum_of(row)) return ok();
  return Error{ErrorCode::corrupt, "row " + std::to_string(row.no) + " of table runs, run " +
                                       row.summary.id.text +
                                       ", is damaged: its checksum does not fit its columns"};
}

Result<std::optional<RunRow>> find_run(Connection& connection, const RunId& run) {
  Query query(connection, kFindRow);
  PAWL_TRY(const bool found, query.text(run.text).next());
  if (!found) {
    PAWL_CHECK(check_entry(connection, kEntryBefore, run));
    PAWL_CHECK(check_entry(connection, kEntryAfter, run));
    return std::optional<RunRow>();
  }
  RunRow row;
  PAWL_CHECK(row_at(query, row));
  if (row.summary.id == run) return std::optional<RunRow>(std::move(row));
  return damaged_index(row.no, run.text + ", which is run " + row.summary.id.text);
}

Result<std::optional<RunRow>> find_run_by_number(Connection& connection, std::int64_t number) {
  Query query(connection, kFindNumber);
  PAWL_TRY(const bool found, query.number(number).next());
  if (!found) return std::optional<RunRow>();
  RunRow row;
  PAWL_CHECK(row_at(query, row));
  return std::optional<RunRow>(std::move(row));
}

Status insert_run(Connection& connection, RunRow& row) {
  {
    Query query(connection, kInsertRow);
    query.text(row.summary.id.text);
    bind_columns(query, row);
    PAWL_CHECK(query.run());
  }
  row.no = sqlite3_last_insert_rowid(connection.handle());
  return Query(connection, kSetSum).number(sum_of(row)).number(row.no).run();
}

Status update_run(Connection& connection, const RunRow& row) {
  Query query(connection, kUpdateRow);
  bind_columns(query, row);
  return query.number(sum_of(row)).number(row.no).run();
}

}  // namespace pawl::sqlite
