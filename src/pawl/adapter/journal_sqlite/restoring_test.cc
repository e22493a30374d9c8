#include "pawl/adapter/journal_sqlite/restoring.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <filesystem>

#include "pawl/adapter/journal_sqlite/acceptance.h"
#include "pawl/adapter/journal_sqlite/copying.h"
#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::run_id;
namespace fs = std::filesystem;

// A store, a backup of it, and what was done since.
struct BackedUp {
  BackedUp() {
    StoreView view = store.view();
    make_run(view, "a", 3);
    const std::atomic<bool> stop = false;
    REQUIRE(sqlite::copy_store(store.database(), backup, stop));
    REQUIRE(append_now(view, append_of(run_id("a"), 1, 3, "r3")) == "ok");
    make_run(view, "b", 2);
  }

  SqliteStore store;
  std::string path = store.directory / "store";
  std::string backup = store.directory / "backup";
};

}  // namespace

TEST_CASE("a backup takes the place of the whole directory, which is kept") {
  BackedUp at;
  at.store.owner.reset();
  const auto restored = sqlite::restore_store(at.backup, at.path, 77);
  REQUIRE_MESSAGE(restored, restored.error().message);
  CHECK(restored->aside == at.path + ".before-restore-77");
  REQUIRE(restored->paused.size() == 1);
  CHECK(restored->paused[0] == run_id("a"));
  {
    TestLoop loop;
    const auto opened = open_store(at.path, loop);
    CHECK_FALSE(opened->refusal());
    CHECK(opened->read(run_id("a"), 0, 1'000)->size() == 3);
    CHECK(outcome(opened->read(run_id("b"), 0, 1'000)) == "not_found");
    // Whoever drove it before has no right to it here.
    StoreView view{loop, *opened};
    CHECK(append_now(view, append_of(run_id("a"), 1, 3, "x")) == "conflict");
    CHECK(opened->pending(run_id("a"))->size() == 1);
  }
  TestLoop loop;
  const auto before = open_store(restored->aside, loop);
  CHECK_FALSE(before->refusal());
  CHECK(before->read(run_id("a"), 0, 1'000)->size() == 4);
  CHECK(before->read(run_id("b"), 0, 1'000)->size() == 2);
  CHECK(fs::exists(at.backup + "/pawl.db"));
}

TEST_CASE("nothing is restored under a process that has the directory open") {
  BackedUp at;
  CHECK(outcome(sqlite::restore_store(at.backup, at.path, 1)) == "unavailable");
  StoreView view = at.store.view();
  CHECK(append_now(view, append_of(run_id("a"), 1, 4, "r4")) == "ok");
}

TEST_CASE("a damaged store is replaced, a damaged backup is refused and nothing changes") {
  BackedUp at;
  at.store.owner.reset();
  SUBCASE("store") {
    fs::resize_file(at.path + "/pawl.db", 100);
    CHECK(sqlite::restore_store(at.backup, at.path, 1));
    TestLoop loop;
    CHECK(open_store(at.path, loop)->read(run_id("a"), 0, 1'000)->size() == 3);
  }
  SUBCASE("backup") {
    fs::resize_file(at.backup + "/pawl.db", fs::file_size(at.backup + "/pawl.db") / 2);
    CHECK_FALSE(sqlite::restore_store(at.backup, at.path, 1));
    TestLoop loop;
    CHECK(open_store(at.path, loop)->read(run_id("a"), 0, 1'000)->size() == 4);
    for (const auto& entry : fs::directory_iterator(at.store.directory.path())) {
      CHECK(entry.path().string().find("restor") == std::string::npos);
    }
  }
}

TEST_CASE("a backup that is copied over the database by hand is refused") {
  BackedUp at;
  const auto over = fs::copy_options::overwrite_existing;
  const std::string crashed = at.store.directory / "crashed";
  fs::copy(at.path, crashed);
  fs::permissions(crashed, fs::perms::owner_all);
  fs::remove(crashed + "/pawl.db-shm");
  fs::copy_file(at.backup + "/pawl.db", crashed + "/pawl.db", over);
  TestLoop loop;
  SUBCASE("beside the log") {
    const auto opened = SqliteJournal::open(crashed, loop);
    if (opened) {
      REQUIRE((*opened)->refusal());
      CHECK((*opened)->refusal()->message.find("another store") != std::string::npos);
    } else {
      CHECK(opened.error().message.find("pawl restore") != std::string::npos);
    }
  }
  SUBCASE("without the log") {
    fs::remove(crashed + "/pawl.db-wal");
    const auto opened = open_store(crashed, loop);
    REQUIRE(opened->refusal());
    CHECK(opened->refusal()->message.find("not put in its place") != std::string::npos);
  }
}

// For each of the four files of a store: none, that of the backup's moment, and that of a crash
// later. The backup has only a database; log, index and mark of its moment are those of the store.
// With the mark of the first moment, what the store had by then is whole: no file can tell that
// there was more.
TEST_CASE("of all mixes of files of two moments none is driven that lacks a record") {
  SqliteStore store;
  {
    StoreView view = store.view();
    make_run(view, "a", 3);
  }
  const std::string backup = store.directory / "backup";
  const std::string early = store.directory / "early";
  const std::string late = store.directory / "late";
  const std::atomic<bool> stop = false;
  REQUIRE(sqlite::copy_store(store.database(), backup, stop));
  fs::copy(store.directory / "store", early);
  fs::copy_file(backup + "/pawl.db", early + "/pawl.db", fs::copy_options::overwrite_existing);
  store.reopen();
  StoreView view = store.view();
  REQUIRE(append_now(view, append_of(run_id("a"), 1, 3, "r3")) == "ok");
  fs::copy(store.directory / "store", late);

  constexpr std::array<const char*, 4> kNames = {"pawl.db", "pawl.db-wal", "pawl.db-shm",
                                                 "pawl.mark"};
  int driven = 0;
  for (std::size_t mix = 0; mix < 81; ++mix) {
    const std::string mixed = store.directory / ("mix" + std::to_string(mix));
    fs::create_directory(mixed);
    fs::permissions(mixed, fs::perms::owner_all);
    std::size_t rest = mix;
    for (const char* name : kNames) {
      const std::string from = rest % 3 == 0 ? "" : (rest % 3 == 1 ? early : late) + "/" + name;
      if (!from.empty()) fs::copy_file(from, mixed + "/" + name);
      rest /= 3;
    }
    CAPTURE(mix);
    TestLoop loop;
    const auto opened = SqliteJournal::open(mixed, loop);
    if (!opened || (*opened)->refusal()) continue;
    const auto records = (*opened)->read(run_id("a"), 0, 1'000);
    if (outcome(records) == "not_found") {
      CHECK(mix % 3 == 0);  // no database: a new store, and there is no run to carry on
      continue;
    }
    ++driven;
    const bool early_mark = mix / 27 == 1;
    CHECK(records->size() == (early_mark && mix / 3 % 3 != 2 ? 3 : 4));
    CHECK(mix % 3 == 2);  // the backup is never driven
  }
  CHECK(driven > 0);
}

TEST_CASE("a backup that was put in its place by hand is refused until somebody accepts it") {
  BackedUp at;
  at.store.owner.reset();
  TestLoop loop;
  {
    const auto opened = open_store(at.backup, loop);
    REQUIRE(opened->refusal());
    CHECK(opened->refusal()->message.find("pawl restore") != std::string::npos);
    CHECK(opened->read(run_id("a"), 0, 1'000)->size() == 3);
    CHECK(opened->check());
  }
  const auto accepted = sqlite::accept_store(at.backup, 77);
  REQUIRE_MESSAGE(accepted, accepted.error().message);
  CHECK(accepted->paused == std::vector{run_id("a")});
  const auto opened = open_store(at.backup, loop);
  CHECK_FALSE(opened->refusal());
  CHECK(opened->pending(run_id("a"))->size() == 1);
  CHECK(opened->acquire(run_id("a")));
}

TEST_CASE("what is no backup, or lies in the directory, is refused by name") {
  BackedUp at;
  at.store.owner.reset();
  CHECK(outcome(sqlite::restore_store(at.store.directory / "none", at.path, 1)) == "not_found");
  CHECK(outcome(sqlite::restore_store(at.path, at.path, 1)) == "invalid_argument");
  const auto made = sqlite::restore_store(at.backup, at.store.directory / "new/place", 1);
  REQUIRE(made);
  CHECK(made->aside == "");
  TestLoop loop;
  CHECK(open_store(at.store.directory / "new/place", loop)->read(run_id("a"), 0, 1'000)->size() ==
        3);
}

TEST_CASE("a data directory that is a link stays one, and what it names is replaced") {
  BackedUp at;
  at.store.owner.reset();
  const std::string link = at.store.directory / "link";
  fs::create_directory_symlink(at.path, link);
  const auto restored = sqlite::restore_store(at.backup, link, 77);
  REQUIRE_MESSAGE(restored, restored.error().message);
  CHECK(restored->aside == at.path + ".before-restore-77");
  CHECK(fs::is_symlink(link));
  TestLoop loop;
  CHECK(open_store(at.path, loop)->read(run_id("a"), 0, 1'000)->size() == 3);
}

}  // namespace pawl
