#include "pawl/adapter/journal_sqlite/log_owner.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::make_run;
using contract::run_id;

// A store with one run in the database and one more in a log that nobody wrote back.
struct Written {
  explicit Written(const std::string& name) {
    StoreView view = store.view();
    make_run(view, name + "-1");
    REQUIRE(store.owner->checkpoint());
    make_run(view, name + "-2");
    copy = store.directory / "copy";
    std::filesystem::create_directory(copy);
    std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
    // While it is open: closing would write the log back.
    for (const std::string& file : {std::string("/pawl.db"), std::string("/pawl.db-wal")}) {
      std::filesystem::copy_file(store.directory / "store" + file, copy + file);
    }
  }

  SqliteStore store;
  std::string copy;
};

}  // namespace

TEST_CASE("a log that is this database's own is taken") {
  Written own("own");
  TestLoop loop;
  const auto opened = SqliteJournal::open(own.copy, loop);
  REQUIRE(opened);
  CHECK((*opened)->read(run_id("own-1"), 0, 1));
  CHECK((*opened)->read(run_id("own-2"), 0, 1));
}

TEST_CASE("the log of another store is refused by name, and nothing is changed") {
  Written own("own");
  Written other("other");
  const std::string log = own.copy + "/pawl.db-wal";
  const auto all = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(other.copy + "/pawl.db-wal", log, all);
  const auto bytes = std::filesystem::file_size(own.copy + "/pawl.db");
  const auto log_bytes = std::filesystem::file_size(log);
  TestLoop loop;
  for (int again = 0; again < 2; ++again) {
    const auto opened = SqliteJournal::open(own.copy, loop);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::corrupt);
    CHECK(opened.error().message.find("pawl.db-wal is not the log of this database") !=
          std::string::npos);
    CHECK(opened.error().message.find(run_id("own-1").text) != std::string::npos);
  }
  CHECK(std::filesystem::file_size(own.copy + "/pawl.db") == bytes);
  CHECK(std::filesystem::file_size(log) == log_bytes);
  // With its own log again everything is there.
  std::filesystem::copy_file(own.store.directory / "store/pawl.db-wal", log, all);
  const auto mended = SqliteJournal::open(own.copy, loop);
  REQUIRE(mended);
  CHECK((*mended)->read(run_id("own-1"), 0, 1));
  CHECK((*mended)->read(run_id("own-2"), 0, 1));
}

TEST_CASE("a run that was removed since the log was written back is no reason to refuse it") {
  SqliteStore store;
  StoreView view = store.view();
  for (const char* name : {"a", "b", "c"}) make_run(view, name);
  REQUIRE(store.owner->checkpoint());
  bool removed = false;
  store.owner->remove(run_id("a"), [&](const Status& status) { removed = status.has_value(); });
  REQUIRE(store.loop.run_until([&] { return removed; }));
  auto connection = sqlite::Connection::open(store.database());
  REQUIRE(connection);
  CHECK(sqlite::check_log_owner(**connection, store.database()));
}

}  // namespace pawl
