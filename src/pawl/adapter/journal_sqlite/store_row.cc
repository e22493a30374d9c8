#include "pawl/adapter/journal_sqlite/store_row.h"

#include <random>

#include "pawl/adapter/journal_sqlite/row_sum.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kReadStore =
    "SELECT id, marked, log, log_before, logs, removed, sum FROM store";
constexpr const char* kWriteStore =
    "INSERT OR REPLACE INTO store (one, id, marked, log, log_before, logs, removed, sum) "
    "VALUES (1, ?, ?, ?, ?, ?, ?, ?)";

std::int64_t sum_of_store(const StoreRow& row) {
  RowSum sum("store");
  return sum.number(row.id)
      .number(row.marked)
      .number(row.log)
      .number(row.log_before)
      .number(row.logs)
      .number(row.removed)
      .finish();
}

}  // namespace

std::int64_t random_store_id() {
  std::random_device device;
  const std::uint64_t high = device();
  return static_cast<std::int64_t>((high << 32U | device()) >> 1U);
}

Status insert_store(Connection& connection) {
  return write_store(connection, StoreRow{.id = random_store_id()});
}

Result<StoreRow> read_store(Connection& connection) {
  Query query(connection, kReadStore);
  PAWL_TRY(const bool found, query.next());
  const auto damaged = [](const char* what) {
    return Error{ErrorCode::corrupt, std::string("table store of pawl.db ") + what +
                                         "; restore the directory from a backup (pawl restore)"};
  };
  if (!found) return damaged("has lost its row");
  const StoreRow row{query.number_at(0), query.number_at(1), query.number_at(2),
                     query.number_at(3), query.number_at(4), query.number_at(5)};
  if (query.number_at(6) != sum_of_store(row)) {
    return damaged("is damaged: its checksum does not fit its columns");
  }
  return row;
}

Status write_store(Connection& connection, const StoreRow& row) {
  Query query(connection, kWriteStore);
  query.number(row.id).number(row.marked).number(row.log).number(row.log_before).number(row.logs);
  return query.number(row.removed).number(sum_of_store(row)).run();
}

}  // namespace pawl::sqlite
