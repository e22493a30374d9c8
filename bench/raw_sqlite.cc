#include "bench/raw_sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>

namespace pawl::bench {
namespace {

void must(int code, sqlite3* database) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  fmt::print(stderr, "raw SQLite: {}\n", sqlite3_errmsg(database));
  std::exit(1);
}

void execute(sqlite3* database, const std::string& sql) {
  must(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), database);
}

sqlite3* open_table(const std::string& path, Sync sync) {
  sqlite3* database = nullptr;
  must(sqlite3_open(path.c_str(), &database), database);
  execute(database, "PRAGMA page_size = 8192");
  execute(database, "PRAGMA journal_mode = WAL");
  execute(database, "PRAGMA wal_autocheckpoint = 2000");  // as SqliteOptions::log_pages_max
  execute(database, std::string("PRAGMA synchronous = ") + (sync == Sync::full ? "FULL" : "OFF"));
  execute(database,
          "CREATE TABLE journal (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT "
          "NULL, epoch INTEGER NOT NULL, payload BLOB NOT NULL, chain BLOB NOT NULL) STRICT");
  return database;
}

void insert(sqlite3* database, sqlite3_stmt* statement, const RawRow& row) {
  sqlite3_bind_int64(statement, 1, row.run);
  sqlite3_bind_int64(statement, 2, row.seq);
  sqlite3_bind_int64(statement, 3, 1);
  sqlite3_bind_blob64(statement, 4, row.bytes.data(), row.bytes.size(), SQLITE_STATIC);
  sqlite3_bind_blob64(statement, 5, row.chain.data(), row.chain.size(), SQLITE_STATIC);
  must(sqlite3_step(statement), database);
  sqlite3_reset(statement);
}

sqlite3_stmt* prepared(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  must(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr),
       database);
  return statement;
}

void step(sqlite3* database, sqlite3_stmt* statement) {
  must(sqlite3_step(statement), database);
  sqlite3_reset(statement);
}

}  // namespace

Cost write_raw(const std::string& path, const std::vector<RawRow>& rows, std::size_t group,
               Sync sync, double steps) {
  sqlite3* database = open_table(path, sync);
  sqlite3_stmt* const begin = prepared(database, "BEGIN IMMEDIATE");
  sqlite3_stmt* const commit = prepared(database, "COMMIT");
  sqlite3_stmt* const add = prepared(
      database, "INSERT INTO journal (run, seq, epoch, payload, chain) VALUES (?, ?, ?, ?, ?)");
  const Meter meter;
  for (std::size_t first = 0; first < rows.size(); first += group) {
    const std::size_t end = std::min(rows.size(), first + group);
    step(database, begin);
    for (std::size_t i = first; i < end; ++i) insert(database, add, rows[i]);
    step(database, commit);
  }
  const Cost cost = cost_since(meter, steps);
  for (sqlite3_stmt* statement : {begin, commit, add}) sqlite3_finalize(statement);
  sqlite3_close(database);
  return cost;
}

}  // namespace pawl::bench
