#include "pawl/adapter/journal_sqlite/run_row.h"

#include "pawl/adapter/journal_sqlite/row_sum.h"
#include "pawl/kernel/words.h"

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

}  // namespace

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
  if (!found) return std::optional<RunRow>();
  RunRow row;
  PAWL_CHECK(row_at(query, row));
  if (row.summary.id == run) return std::optional<RunRow>(std::move(row));
  return Error{ErrorCode::corrupt, "the index of table runs is damaged: it has row " +
                                       std::to_string(row.no) + " for run " + run.text +
                                       ", which is run " + row.summary.id.text};
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
