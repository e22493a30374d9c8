// An SQLite store in a directory of its own, for tests.
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <utility>

#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "tests/contract/journal_contract_support.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_loop.h"

namespace pawl {

inline std::unique_ptr<SqliteJournal> open_store(const std::string& path, Loop& loop,
                                                 const SqliteOptions& options = {}) {
  auto journal = SqliteJournal::open(path, loop, options);
  if (!journal) FAIL(journal.error().message);
  return std::move(*journal);
}

// What the words of the contract's tests take: a loop and a journal.
struct StoreView {
  TestLoop& loop;
  SqliteJournal& journal;
};

struct SqliteStore {
  explicit SqliteStore(const SqliteOptions& given = {}) : options(given) {}

  void reopen() {
    owner.reset();
    owner = open_store(directory / "store", loop, options);
  }
  StoreView view() { return {loop, *owner}; }
  std::string database() const { return directory / "store/pawl.db"; }

  TempDirectory directory;
  TestLoop loop;
  SqliteOptions options;
  std::unique_ptr<SqliteJournal> owner = open_store(directory / "store", loop, options);
};

// As another program would.
inline void execute(const std::string& database, const std::string& sql) {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(database.c_str(), &handle) == SQLITE_OK);
  sqlite3_busy_timeout(handle, 10'000);
  const int code = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  INFO(sqlite3_errmsg(handle));
  CHECK(code == SQLITE_OK);
  sqlite3_close(handle);
}

}  // namespace pawl
