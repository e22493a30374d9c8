// Whether a log belongs to the database it lies beside. SQLite believes any log that is whole in
// itself: the one of another store, put there by hand or left behind when a database was restored,
// would take the place of everything here without a word.
#pragma once

#include <string>

#include "pawl/adapter/journal_sqlite/sqlite.h"

namespace pawl::sqlite {

// `connection` sees the database with its log. Nobody else may have it open. Refuses a log that
//  - gives a run of the database another id: numbers are never given twice;
//  - is of an older state: a counter falls, or a row that was there is another one;
//  - is of a newer state: it adds to what is in neither of them.
// What cannot be read without the log, which may have been written back in part, proves nothing.
Status check_log_owner(Connection& connection, const std::string& database);

}  // namespace pawl::sqlite
