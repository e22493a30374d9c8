// The tables `places` (which row of `journal` holds which record of which run) and `placed` (up to
// which row it does), together with what a connection's tail knows beyond them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pawl/adapter/journal_sqlite/run_row.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/result.h"

namespace pawl::sqlite {

// For a new database: the row of `placed`.
Status insert_placed(Connection& connection);

// How far `places` reaches. Of a row that is gone or damaged nothing is believed: every row of
// `journal` is then read as if it had no place, which takes longer and finds them all. The next
// time that rows are placed it is written anew.
struct Placed {
  std::int64_t up_to = 0;
  std::int64_t generation = 0;
  std::int64_t last_row = 0;  // of `journal`
  std::string damage = {};    // what is wrong with it
};
Result<Placed> read_placed(Connection& connection);

// Reads what has been added since the connection last looked.
Status refresh_tail(Connection& connection);
// For a writer, whose tail stays right from BEGIN to COMMIT: only if it is not.
Status ensure_tail(Connection& connection);

// The number of a run's records. The tail must be current.
Result<std::uint64_t> length_of(Connection& connection, std::int64_t run);

// corrupt: a record of the run is gone, or may be, so that it must not go on from the `length` that
// can be seen. The tail must be current.
Status check_none_lost(Connection& connection, const RunRow& row, std::uint64_t length);

// Puts about so many more records of the tail into `places`, run after run.
Status place_some(Connection& connection, std::size_t wanted);
// All of it.
Status place_tail(Connection& connection);
// To be called in a transaction that has deleted rows of `journal`: rows may be given again, so
// nobody may go by what they remember.
Status after_deleting(Connection& connection);

}  // namespace pawl::sqlite
