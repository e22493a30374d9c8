// What every store says and refuses alike: its words for what is not there or was moved, and the
// maxima of pawl/store.h.
#pragma once

#include <string>

#include "pawl/store.h"

namespace pawl {

Error conflict(const RunId& run, const std::string& what);
Error no_such_run(const RunId& run);
// conflict: the run has another number of records than `given`.
Status check_length(const RunId& run, std::uint64_t length, std::uint64_t given);
// conflict, in the words that waits_in_inbox() knows.
Error inbox_waits(const RunId& run);
// An append was refused because its run would have ended with a row in its inbox.
bool waits_in_inbox(const Error& error);
// The append says that the run is over, so that nobody would look into its inbox again.
bool ends_run(const Append& append);
// By its status: neither waiting nor over. One of these that nobody drives was interrupted.
bool is_under_way(const RunSummary& summary);
// Why a run is quarantined that was loaded too often in vain.
std::string loaded_in_vain(std::int64_t loads);
Error no_such_blob(const RunId& run, const Digest& digest);
Error damaged_blob(const RunId& run, const Digest& digest);
Error expired_blob(const RunId& run, const Digest& digest, std::int64_t at_ms);

// The day of a wall time, in UTC: "2026-11-16".
std::string day_of(std::int64_t at_ms);

// limit_exceeded: one of the maxima. Needs no store.
Status check_limits(const Append& append);
Status check_inbox_limits(const std::string& body);

}  // namespace pawl
