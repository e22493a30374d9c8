#include "pawl/adapter/journal_sqlite/schema.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/adapter/journal_sqlite/store_row.h"

namespace pawl::sqlite {
namespace {

// Numbers of runs are never used again: what a removed run held may still be there for a while
// under its number, which `removals` keeps, sealed (see removal.cc), until it is swept.
//
// The journal is a rowid table: rows are added at one end of one tree, which costs half the space
// and twice the speed of a table ordered by (run, seq). `places` says which row holds which record,
// for all rows up to `placed.up_to`; see tail.h.
//
// `runs.length` and `runs.messages` say how many records and messages a run has at least and
// exactly (run_row.h), so that one that cannot be found is missed.
//
// What is read back and acted on has a sum (row_sum.h), a digest or a seal of its own.
constexpr const char* kTables = R"sql(
CREATE TABLE runs (
  no INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, name TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT NOT NULL, created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, epoch INTEGER NOT NULL, loads INTEGER NOT NULL,
  quarantine TEXT, length INTEGER NOT NULL, messages INTEGER NOT NULL,
  sum INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE journal (
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL,
  sum INTEGER NOT NULL DEFAULT 0, payload BLOB NOT NULL, chain BLOB NOT NULL) STRICT;
CREATE TABLE places (
  run INTEGER NOT NULL, seq INTEGER NOT NULL, id INTEGER NOT NULL,
  PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE placed (
  one INTEGER PRIMARY KEY, up_to INTEGER NOT NULL, generation INTEGER NOT NULL,
  sum INTEGER NOT NULL) STRICT;
CREATE TABLE store (
  one INTEGER PRIMARY KEY, id INTEGER NOT NULL, marked INTEGER NOT NULL, log INTEGER NOT NULL,
  log_before INTEGER NOT NULL, logs INTEGER NOT NULL, removed INTEGER NOT NULL,
  sum INTEGER NOT NULL) STRICT;
CREATE TABLE blobs (
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL, digest BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX blobs_by_run ON blobs (run, digest);
CREATE TABLE snapshots (
  run INTEGER PRIMARY KEY, seq INTEGER NOT NULL, chain BLOB NOT NULL, digest BLOB NOT NULL,
  state BLOB NOT NULL) STRICT;
CREATE TABLE inbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, at INTEGER NOT NULL,
  body BLOB NOT NULL, sum INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX inbox_by_run ON inbox (run, id);
CREATE TABLE removals (run INTEGER PRIMARY KEY) STRICT;
)sql";

constexpr std::array<std::string_view, 11> kObjectNames = {
    "table runs",     "table journal",      "table places",      "table placed",
    "table store",    "table blobs",        "table snapshots",   "table inbox",
    "table removals", "index blobs_by_run", "index inbox_by_run"};
constexpr const char* kRestore = "restore the directory from a backup";
// Without those that SQLite makes for itself.
constexpr const char* kObjects =
    "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite#_%' ESCAPE '#'";

Result<Identity> identity_of(Connection& connection) {
  PAWL_TRY(const std::int64_t application_id, connection.integer_of("PRAGMA application_id"));
  PAWL_TRY(const std::int64_t version, connection.integer_of("PRAGMA user_version"));
  return Identity{static_cast<std::uint32_t>(application_id), static_cast<std::uint32_t>(version)};
}

Status create_tables(Connection& connection) {
  PAWL_CHECK(connection.execute(kTables));
  PAWL_CHECK(insert_placed(connection));
  PAWL_CHECK(insert_store(connection));
  PAWL_CHECK(connection.execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
  PAWL_CHECK(connection.execute("PRAGMA user_version = " + std::to_string(kSchemaVersion)));
  return connection.execute("COMMIT");
}

// A file system without shared memory refuses the log without an error.
Status use_log(Connection& connection, const std::string& path) {
  Query query(connection, "PRAGMA journal_mode = WAL");
  PAWL_TRY(const bool row, query.next());
  if (row && query.text_at(0) == "wal") return ok();
  return Error{ErrorCode::unavailable,
               path + ": this file system cannot hold a write-ahead log; use a local directory"};
}

}  // namespace

Status check_identity(const Identity& identity, const std::string& path) {
  if (identity.application_id != kApplicationId) {
    return Error{ErrorCode::invalid_argument,
                 path + " is a database of another program; nothing was changed"};
  }
  if (identity.schema_version > kSchemaVersion) {
    return Error{ErrorCode::invalid_argument,
                 path + " was written by a newer Pawl (store version " +
                     std::to_string(identity.schema_version) + "; this one knows up to " +
                     std::to_string(kSchemaVersion) + "); nothing was changed"};
  }
  return ok();
}

Status check_tables(Connection& connection, const std::string& path) {
  const auto refuse = [&path](const std::string& what) {
    return Error{ErrorCode::corrupt, path + " " + what};
  };
  std::set<std::string, std::less<>> found;
  Query query(connection, kObjects);
  while (true) {
    PAWL_TRY(const bool row, query.next());
    if (!row) break;
    const std::string name(query.text_at(0));
    const bool known =
        std::find(kObjectNames.begin(), kObjectNames.end(), name) != kObjectNames.end();
    if (!known) return refuse("has a " + name + " that is not Pawl's; drop it, or " + kRestore);
    // SQLite keeps the text that made it.
    const std::string made = std::string(query.text_at(1)) + ";\n";
    if (std::string_view(kTables).find(made) == std::string_view::npos) {
      return refuse("has another " + name + " than Pawl makes; " + kRestore);
    }
    found.insert(name);
  }
  for (const std::string_view name : kObjectNames) {
    if (!found.contains(name)) return refuse("has lost " + std::string(name) + "; " + kRestore);
  }
  return ok();
}

Error no_version(const std::string& path) {
  return Error{ErrorCode::corrupt, path + " says store version 0, which no Pawl has written"};
}

Status prepare_schema(Connection& connection, const std::string& path, Access access) {
  PAWL_TRY(std::int64_t objects, connection.integer_of("SELECT count(*) FROM sqlite_schema"));
  if (objects == 0) {
    // Made with a rollback journal and only then switched to a log: until the tables are durable
    // the file is empty, so that a crash in between leaves nothing that looks like another's
    // database.
    PAWL_CHECK(connection.execute("PRAGMA page_size = " + std::to_string(kPageBytes)));
    PAWL_CHECK(connection.execute("BEGIN"));
    // So that space can be given back a few pages at a time. It can be chosen only while there is
    // no page, and takes the write lock. By itself it would write a database of nobody's.
    PAWL_CHECK(connection.execute("PRAGMA auto_vacuum = INCREMENTAL"));
    PAWL_TRY(objects, connection.integer_of("SELECT count(*) FROM sqlite_schema"));
    PAWL_CHECK(objects == 0 ? create_tables(connection) : connection.execute("ROLLBACK"));
  }
  PAWL_TRY(const Identity identity, identity_of(connection));
  PAWL_CHECK(check_identity(identity, path));
  if (identity.schema_version == 0) {
    return no_version(path);
  }
  if (identity.schema_version < kSchemaVersion) {
    const Upgrade upgrade{identity.schema_version, kSchemaVersion, access};
    PAWL_CHECK(migrate(connection, path, upgrade, migrations()));
  }
  PAWL_CHECK(check_tables(connection, path));
  return use_log(connection, path);
}

}  // namespace pawl::sqlite
