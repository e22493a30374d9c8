#include "pawl/adapter/journal_sqlite/log_owner.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
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

// Files of a store as they lie on the disk at several moments.
struct Moments {
  void copy(const std::string& file, const std::string& to) {
    const auto all = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(store.directory / "store" + file, store.directory / to + file, all);
  }
  std::string make(const std::string& name) {
    const std::string path = store.directory / name;
    std::filesystem::create_directory(path);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  void keep(const std::string& name) {
    make(name);
    for (const char* file : {"/pawl.db", "/pawl.db-wal", "/pawl.mark"}) copy(file, name);
  }
  // A database of one moment with the log of another.
  std::string mixed(const std::string& database, const std::string& log) {
    const std::string path = make(database + "-" + log);
    for (const char* file : {"/pawl.db", "/pawl.mark"}) {
      std::filesystem::copy_file(store.directory / database + file, path + file);
    }
    std::filesystem::copy_file(store.directory / log + "/pawl.db-wal", path + "/pawl.db-wal");
    return path;
  }
  void add(const RunId& run, std::uint64_t seq) {
    StoreView view = store.view();
    REQUIRE(append_now(view, append_of(run, 1, seq, "r" + std::to_string(seq))) == "ok");
  }

  SqliteStore store;
};

// Of a log that was written back already, or in part, the database has more than the log: the mark
// shows it. Then it is opened to be read.
std::string refusal_of(const std::string& path) {
  TestLoop loop;
  const auto opened = SqliteJournal::open(path, loop);
  if (opened) return (*opened)->refusal() ? (*opened)->refusal()->message : "";
  CHECK(opened.error().code == ErrorCode::corrupt);
  return opened.error().message;
}

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
    CHECK(opened.error().message.find("pawl restore") != std::string::npos);
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

TEST_CASE("a log of an older or a newer state of the same store is refused") {
  Moments at;
  StoreView view = at.store.view();
  const RunId run = make_run(view, "a", 3);
  REQUIRE(at.store.owner->checkpoint());
  SUBCASE("records were added") {
    at.add(run, 3);
    at.keep("first");
    at.add(run, 4);
    REQUIRE(at.store.owner->checkpoint());
    at.add(run, 5);
    at.keep("second");
  }
  SUBCASE("runs were added") {
    make_run(view, "b", 2);
    at.keep("first");
    make_run(view, "c", 2);
    REQUIRE(at.store.owner->checkpoint());
    make_run(view, "d", 2);
    at.keep("second");
  }
  SUBCASE("messages were posted") {
    make_run(view, "b", 2);
    at.keep("first");
    bool posted = false;
    at.store.owner->post(run, 1, "hello", [&](const Status& status) { posted = bool(status); });
    REQUIRE(at.store.loop.run_until([&] { return posted; }));
    REQUIRE(at.store.owner->checkpoint());
    make_run(view, "c", 2);
    at.keep("second");
  }
  SUBCASE("a run was removed") {
    make_run(view, "b", 2);
    at.keep("first");
    bool removed = false;
    at.store.owner->remove(run, [&](const Status& status) { removed = status.has_value(); });
    REQUIRE(at.store.loop.run_until([&] { return removed; }));
    make_run(view, "c", 2);
    REQUIRE(at.store.owner->checkpoint());
    make_run(view, "d", 2);
    at.keep("second");
  }

  CHECK(refusal_of(at.mixed("second", "first")).find("behind its mark") != std::string::npos);
  CHECK(refusal_of(at.mixed("first", "second")).find("is not the log") != std::string::npos);
  CHECK(refusal_of(at.mixed("first", "first")) == "");
  CHECK(refusal_of(at.mixed("second", "second")) == "");
}

TEST_CASE("a log that goes on from a database that was restored since is refused") {
  Moments at;
  StoreView view = at.store.view();
  const RunId run = make_run(view, "a", 3);
  REQUIRE(at.store.owner->checkpoint());
  at.add(run, 3);
  at.keep("first");
  at.add(run, 4);
  for (int i = 0; i < 40; ++i) make_run(view, "more" + std::to_string(i), 30);
  REQUIRE(at.store.owner->checkpoint());
  make_run(view, "last", 2);
  at.keep("second");

  const std::string refusal = refusal_of(at.mixed("first", "second"));

  CHECK(refusal.find("pawl.db") != std::string::npos);
  CHECK(refusal.find("pawl restore") != std::string::npos);
  CHECK(refusal_of(at.mixed("second", "second")) == "");
}

TEST_CASE("a log of records whose predecessors a restored database lacks is refused") {
  Moments at;
  StoreView view = at.store.view();
  const RunId run = make_run(view, "a", 3);
  REQUIRE(at.store.owner->checkpoint());
  at.add(run, 3);
  at.keep("first");
  for (std::uint64_t seq = 4; seq < 200; ++seq) at.add(run, seq);
  REQUIRE(at.store.owner->checkpoint());
  for (std::uint64_t seq = 200; seq < 300; ++seq) at.add(run, seq);
  at.keep("second");

  const std::string refusal = refusal_of(at.mixed("first", "second"));

  CHECK_MESSAGE(refusal.find("pawl restore") != std::string::npos, refusal);
  CHECK(refusal_of(at.mixed("second", "second")) == "");
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
