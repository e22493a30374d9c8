// What every store says and refuses alike: its words for what is not there or was moved, and the
// maxima of port/journal.h.
#pragma once

#include <string>

#include "pawl/port/journal.h"

namespace pawl {

Error conflict(const RunId& run, const std::string& what);
Error no_such_run(const RunId& run);
// conflict: the run has another number of records than `given`.
Status check_length(const RunId& run, std::uint64_t length, std::uint64_t given);
Error no_such_blob(const RunId& run, const Digest& digest);
Error damaged_blob(const RunId& run, const Digest& digest);
Error expired_blob(const RunId& run, const Digest& digest, std::int64_t at_ms);

// The day of a wall time, in UTC: "2026-11-16".
std::string day_of(std::int64_t at_ms);

// limit_exceeded: one of the maxima. Needs no store.
Status check_limits(const Append& append);
Status check_inbox_limits(const std::string& body);

}  // namespace pawl
