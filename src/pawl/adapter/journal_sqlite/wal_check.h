// Looks through SQLite's write-ahead log before SQLite does. SQLite ends the log at the first frame
// that does not check, as after a torn write; a flipped bit in the middle would silently take every
// later commit with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/result.h"

namespace pawl::sqlite {

struct LogReport {
  std::uint64_t frames_committed = 0;
  std::uint64_t torn_bytes = 0;      // frames of this log after the last commit
  std::optional<Identity> identity;  // from the newest committed copy of the first page
};

// A torn end is fine: frames after the last commit, of a transaction that nobody was told about.
// corrupt, naming frame and offset: what follows a bad frame shows that it was committed once.
// Also corrupt: pages that the last commit counts are in neither file, so that the log goes on from
// a database that was larger than this one. A missing or empty file is an empty log. Changes
// nothing.
struct DatabaseSize {
  std::uint32_t page_bytes = 0;
  std::uint64_t pages = INT64_MAX;  // that the file holds; as many as can be: not looked at
};
Result<LogReport> check_log(const std::string& path, const DatabaseSize& database);

}  // namespace pawl::sqlite
