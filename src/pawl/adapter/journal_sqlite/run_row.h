// A row of the table `runs`, read and written as a whole: its sum covers all of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/store.h"

namespace pawl::sqlite {

struct RunRow {
  std::int64_t no = 0;
  RunSummary summary = {};  // without its length
  std::uint64_t epoch = 1;
  std::int64_t loads = 0;  // acquisitions since the last append
  std::optional<std::string> quarantine = {};
  // Records that it has at least. Those behind have no place yet, and are counted by their rows
  // (places.h): to write this with every append would cost a page.
  std::uint64_t length = 0;
  std::uint64_t messages = 0;  // rows of its inbox, exactly

  // Why nobody may drive it.
  std::optional<std::string> held_back() const;
};

// The columns that row_at() reads, in its order, for a SELECT.
#define PAWL_RUN_COLUMNS                                                                     \
  "no, id, tenant, name, status, reason, created_at, updated_at, epoch, loads, quarantine, " \
  "length, messages, sum "
inline constexpr int kRunColumns = 14;
// corrupt: its sum does not fit what is in it; names the row. `row` is then what can be read of it.
Status row_at(const Query& query, RunRow& row);

// Nothing: there is no such run. corrupt: its row is damaged, or the index where it would be.
Result<std::optional<RunRow>> find_run(Connection& connection, const RunId& run);
// Nothing: it was removed.
Result<std::optional<RunRow>> find_run_by_number(Connection& connection, std::int64_t number);
// Compares the rows of `runs` and of its index with the count of runs that were added and not
// removed. Returns what is wrong, and nothing if all are there.
Result<std::string> missing_runs(Connection& connection);
// Takes the rows that are there for all there are, and makes their index anew.
Status accept_missing_runs(Connection& connection);
// Gives the row its number.
Status insert_run(Connection& connection, RunRow& row);
Status update_run(Connection& connection, const RunRow& row);

}  // namespace pawl::sqlite
