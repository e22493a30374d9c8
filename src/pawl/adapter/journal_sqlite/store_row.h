// The one row of the table `store`: which store this is, and which log belongs to it.
//
// Every log carries the row with its own name (the salts of its header) and the name of the log
// before it. The database without its log then has one of the two, and a log that was laid beside
// it by hand, or left behind when the database was replaced, shows: see log_owner.h.
#pragma once

#include <cstdint>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/result.h"

namespace pawl::sqlite {

// The values of `marked`.
inline constexpr std::int64_t kUnmarked = 0;  // a new store, which gets its mark (mark.h)
inline constexpr std::int64_t kMarked = 1;    // a store without its mark has lost it
inline constexpr std::int64_t kBackup = 2;    // a copy: nothing is driven before it is restored

struct StoreRow {
  std::int64_t id = 0;  // random; a copy gets another one
  std::int64_t marked = kUnmarked;
  std::int64_t log = 0;  // the newest log that was written to
  std::int64_t log_before = 0;
  std::int64_t logs = 0;     // how many there have been
  std::int64_t removed = 0;  // runs that were removed, ever: see missing_runs()

  friend bool operator==(const StoreRow&, const StoreRow&) = default;
};

// For a new database.
Status insert_store(Connection& connection);
// corrupt: the row is gone or damaged.
Result<StoreRow> read_store(Connection& connection);
Status write_store(Connection& connection, const StoreRow& row);

std::int64_t random_store_id();

}  // namespace pawl::sqlite
