// The floor that durable runs are measured against: the same bytes, inserted by a bare loop on
// SQLite's C API into one table, so many rows a transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/meter.h"

namespace pawl::bench {

struct RawRow {
  std::int64_t run = 0;
  std::int64_t seq = 0;
  std::string bytes;
  std::string chain;
};

enum class Sync : std::uint8_t { full, off };

// Writes all rows into a new database at `path`, `group` of them in a transaction, with the page
// size, the log and the write-back of the journal. What it cost, by `steps`. Ends the program when
// SQLite fails.
Cost write_raw(const std::string& path, const std::vector<RawRow>& rows, std::size_t group,
               Sync sync, double steps);

}  // namespace pawl::bench
