// Removing runs, as functions on an open transaction. A run goes in one step: its row moves from
// `runs` to `removals`, by number. What it held is deleted in slices that are short enough to stand
// between other runs' commits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pawl/adapter/journal_sqlite/slice.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/store.h"

namespace pawl::sqlite {

// The run's number, under which it is still to be swept. not_found.
Result<std::int64_t> write_removal(Connection& connection, const RunId& run);

struct Swept {
  std::vector<std::int64_t> finished;  // numbers of runs of which nothing is left
  bool more = false;                   // others, or more of the last one, are left
};
Result<Swept> sweep_slice(Connection& connection, const SliceBudget& budget);

struct Vacuumed {
  std::uint64_t pages = 0;  // given back by this slice
  bool more = false;
};
Result<Vacuumed> vacuum_slice(Connection& connection, const SliceBudget& budget);

// Records of a run that is neither there nor being removed: its row was lost.
struct Orphan {
  std::int64_t run = 0;
  std::uint64_t records = 0;
};

// Reads, on any connection.
Result<std::optional<Orphan>> find_orphan(Connection& connection);
Result<std::uint64_t> count_removals(Connection& connection);
Result<StoreSize> size_of_store(Connection& connection);
// A few rows at a time, so that no long read keeps the log from starting over.
Result<std::vector<RunSize>> sizes_of_runs(Connection& connection);

}  // namespace pawl::sqlite
