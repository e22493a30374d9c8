// The tables of a store and the version that names them. See docs/journal-sqlite.md.
#pragma once

#include <cstdint>

#include "pawl/adapter/journal_sqlite/migration.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/result.h"

namespace pawl::sqlite {

inline constexpr std::uint32_t kApplicationId = 0x5061776c;  // "Pawl"
inline constexpr std::uint32_t kSchemaVersion = 1;
inline constexpr std::uint32_t kPageBytes = 8192;

// What a database says it is.
struct Identity {
  std::uint32_t application_id = 0;
  std::uint32_t schema_version = 0;
};

// Refuses a database that another program, or a newer Pawl, has made. `path` is for the message.
Status check_identity(const Identity& identity, const std::string& path);
// Refuses a database that lacks a table or an index, has another one in its place, or something of
// somebody else's: a trigger would change what is written.
Status check_tables(Connection& connection, const std::string& path);
// Of one that says it is of version 0, and has tables.
Error no_version(const std::string& path);

// Makes the tables in an empty database, in one transaction; brings those of an older version up.
// Refuses a database that is not ours, or not whole.
Status prepare_schema(Connection& connection, const std::string& path,
                      Access access = Access::alone);

}  // namespace pawl::sqlite
