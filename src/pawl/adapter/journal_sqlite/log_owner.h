// Whether a log belongs to the database it lies beside. SQLite believes any log that is whole in
// itself: the one of another store, put there by hand or left behind when a database was restored,
// would take the place of everything here without a word.
//
// A checkpoint that was cut short leaves pages of the database half old and half new. That is no
// harm, because the log has them all; and it is no evidence, because half a page says nothing. So
// only the row of table `store` is compared, which has a checksum: what does not check proves
// nothing, and rows of other tables are not looked at.
#pragma once

#include <string>

#include "pawl/adapter/journal_sqlite/sqlite.h"

namespace pawl::sqlite {

// `connection` sees the database with its log. Nobody else may have it open. Refuses a log of
// another store, and one that does not follow the state that the database has without it.
Status check_log_owner(Connection& connection, const std::string& database);

// Within a transaction: writes the name of the log into table `store`, if it is not there. To be
// done soon after a log has begun, and before it is written back.
Status bind_log(Connection& connection);

}  // namespace pawl::sqlite
