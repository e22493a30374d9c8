#include "pawl/adapter/journal_sqlite/examination.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "tests/contract/upkeep_contract.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::blob_of;
using contract::make_run;
using contract::run_id;
using sqlite::Examination;
using sqlite::examine_store;

// Every file with its content, but for SQLite's index of the log.
std::map<std::string, std::string> content_of(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name == "pawl.db-shm") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[name] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

TEST_CASE("an open store is looked at while it is in use") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 3);
  Append append = append_of(run_id("b"), 1, 0, "r0");
  append.blobs = {blob_of(std::string(10'000, 'x'))};
  REQUIRE(append_now(view, append) == "ok");
  const auto drive = store.owner->acquire(run_id("a"));

  const auto found = examine_store(store.directory / "store");

  REQUIRE(found);
  CHECK(found->database == Examination::Database::readable);
  CHECK(found->lock == Examination::Lock::usable);
  CHECK(found->open_elsewhere);
  CHECK(found->schema_version == 1);
  CHECK(found->blob_bytes == 10'000);
  REQUIRE(found->runs.size() == 2);
  CHECK(found->runs[0].summary.id == run_id("b"));
  CHECK(found->runs[0].bytes > 10'000);
  CHECK_FALSE(found->runs[0].driven);
  CHECK(found->runs[1].driven);
  CHECK(found->runs[1].summary.length == 3);
}

TEST_CASE("a closed store is looked at and not touched") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 3);
  store.owner.reset();
  const auto before = content_of(store.directory / "store");

  const auto found = examine_store(store.directory / "store");

  REQUIRE(found);
  CHECK_FALSE(found->open_elsewhere);
  CHECK(found->runs.size() == 1);
  CHECK(content_of(store.directory / "store") == before);
}

TEST_CASE("a store that is only a database is looked at without making a file") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 3);
  store.owner.reset();
  const std::string copy = store.directory / "a copy? #1 100%";
  std::filesystem::create_directory(copy);
  std::filesystem::copy_file(store.database(), copy + "/pawl.db");

  const auto found = examine_store(copy);

  REQUIRE(found);
  CHECK(found->lock == Examination::Lock::absent);
  CHECK(found->runs.size() == 1);
  CHECK(content_of(copy).size() == 1);
}

TEST_CASE("what would be refused is said, and what is not there is not made") {
  SqliteStore store;
  store.owner.reset();
  execute(store.database(), "PRAGMA user_version = 9");

  const auto newer = examine_store(store.directory / "store");
  REQUIRE(newer);
  CHECK(newer->database == Examination::Database::refused);
  CHECK(newer->refusal.find("newer Pawl") != std::string::npos);

  std::filesystem::create_directory(store.directory / "empty");
  const auto empty = examine_store(store.directory / "empty");
  REQUIRE(empty);
  CHECK(empty->database == Examination::Database::absent);
  CHECK(std::filesystem::is_empty(store.directory / "empty"));
}

TEST_CASE("a store that has lost a table is said to be refused") {
  SqliteStore store;
  store.owner.reset();
  execute(store.database(), "DROP TABLE inbox");

  const auto found = examine_store(store.directory / "store");

  REQUIRE(found);
  CHECK(found->database == Examination::Database::refused);
  CHECK(found->refusal.find("has lost table inbox") != std::string::npos);
}

TEST_CASE("a lock file that is none is said to be unusable, and nobody waits for it") {
  SqliteStore store;
  store.owner.reset();
  const std::string path = store.directory / "store/pawl.lock";
  std::filesystem::remove(path);
  SUBCASE("a pipe") {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  }
  SUBCASE("a directory") {
    std::filesystem::create_directory(path);
  }

  const auto found = examine_store(store.directory / "store");

  REQUIRE(found);
  CHECK(found->lock == Examination::Lock::unusable);
  CHECK(found->lock_fault.find("pawl.lock is not a file") != std::string::npos);
}

TEST_CASE("a store of a version that there never was is said to be refused") {
  TempDirectory directory;
  TestLoop loop;
  open_store(directory / "store", loop).reset();
  {
    auto tables = sqlite::Connection::open(directory / "store/pawl.db");
    REQUIRE(tables);
    REQUIRE((*tables)->execute("PRAGMA user_version = 0"));
  }
  const auto found = examine_store(directory / "store");
  REQUIRE(found);
  CHECK(found->database == Examination::Database::refused);
  CHECK(found->refusal.find("store version 0") != std::string::npos);
}

TEST_CASE("what a crash left in the log is looked at, and left there") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 3);
  const std::string copy = store.directory / "crashed";
  std::filesystem::copy(store.directory / "store", copy);  // as it lies on the disk now
  REQUIRE(std::filesystem::file_size(copy + "/pawl.db-wal") > 0);
  const auto before = content_of(copy);

  const auto found = examine_store(copy);

  REQUIRE(found);
  CHECK(found->runs.size() == 1);
  CHECK(found->size.log_bytes > 0);
  CHECK(content_of(copy) == before);
}

}  // namespace
}  // namespace pawl
