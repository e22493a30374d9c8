// The tables `places` (which row of `journal` holds which record of which run) and `placed` (up to
// which row it does), together with what a connection's tail knows beyond them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/base/result.h"

namespace pawl::sqlite {

// Reads what has been added since the connection last looked.
Status refresh_tail(Connection& connection);
// For a writer, whose tail stays right from BEGIN to COMMIT: only if it is not.
Status ensure_tail(Connection& connection);

// The number of a run's records. The tail must be current.
Result<std::uint64_t> length_of(Connection& connection, std::int64_t run);

// Puts about so many more records of the tail into `places`, run after run.
Status place_some(Connection& connection, std::size_t wanted);
// All of it.
Status place_tail(Connection& connection);
// To be called in a transaction that has deleted rows of `journal`: rows may be given again, so
// nobody may go by what they remember.
Status after_deleting(Connection& connection);

}  // namespace pawl::sqlite
