// A row of the table `runs`, read and written as a whole: its sum covers all of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/port/journal.h"

namespace pawl::sqlite {

struct RunRow {
  std::int64_t no = 0;
  RunSummary summary = {};  // without its length
  std::uint64_t epoch = 1;
  std::int64_t loads = 0;  // acquisitions since the last append
  std::optional<std::string> quarantine = {};

  // Why nobody may drive it.
  std::optional<std::string> held_back() const;
};

// The columns that row_at() reads, in its order, for a SELECT.
#define PAWL_RUN_COLUMNS                                                                     \
  "no, id, tenant, name, status, reason, created_at, updated_at, epoch, loads, quarantine, " \
  "sum "
// corrupt: its sum does not fit what is in it; names the row. `row` is then what can be read of it.
Status row_at(const Query& query, RunRow& row);

// Nothing: there is no such run. corrupt: its row is damaged.
Result<std::optional<RunRow>> find_run(Connection& connection, const RunId& run);
// Gives the row its number.
Status insert_run(Connection& connection, RunRow& row);
Status update_run(Connection& connection, const RunRow& row);

}  // namespace pawl::sqlite
