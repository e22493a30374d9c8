#include "pawl/adapter/journal_sqlite/copying.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::records_of;
using contract::run_id;
using contract::Texts;

std::string copy_now(SqliteStore& store, const std::string& target) {
  std::optional<std::string> seen;
  store.owner->copy_to(target, [&](const Status& status) { seen = outcome(status); });
  CHECK_FALSE(seen);
  REQUIRE(store.loop.run_until([&] { return seen.has_value(); }));
  return *seen;
}

unsigned mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

TEST_CASE("a copy is a store of its own, private, with all that was there") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 3);
  const std::string target = store.directory / "copy";

  CHECK(copy_now(store, target + "/") == "ok");

  make_run(view, "later");
  CHECK(mode_of(target) == 0700);
  CHECK(mode_of(target + "/pawl.db") == 0600);
  const auto copy = open_store(target, store.loop);
  StoreView there{store.loop, *copy};
  CHECK(records_of(there, run_id("a")) == Texts{"r0", "r1", "r2"});
  CHECK(copy->list({})->size() == 1);
  // Its runs do not know what they do from now on: see restoring_test.cc.
  CHECK(outcome(copy->acquire(run_id("a"))) == "unavailable");
  CHECK(copy->check());
}

TEST_CASE("what is there already is not touched, and nothing is left of a copy that failed") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a");
  std::filesystem::create_directory(store.directory / "there");

  CHECK(copy_now(store, store.directory / "there") == "conflict");
  CHECK(copy_now(store, store.directory / "no/such/place") == "unavailable");
  CHECK(std::filesystem::is_empty(store.directory / "there"));
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(store.directory.path())) {
    static_cast<void>(entry);
    ++entries;
  }
  CHECK(entries == 2);  // the store and the directory above
}

TEST_CASE("nothing is left of a copy whose store cannot be read") {
  const TempDirectory directory;
  const std::atomic<bool> stop = false;
  std::ofstream(directory / "db") << std::string(10'000, 'x');
  CHECK_FALSE(sqlite::copy_store(directory / "db", directory / "copy", stop));
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    CHECK(entry.path().filename() == "db");
    ++entries;
  }
  CHECK(entries == 1);
}

TEST_CASE("sc-D11: what a copy that was killed has left goes with the next one to the same place") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a");
  const std::string target = store.directory / "copy";
  // No process has a number this large: the kernel's own bound is four million.
  const std::string dead = target + ".partial-2000000000";
  const std::string alive = target + ".partial-1";
  const std::string another = store.directory / "copy2.partial-2000000000";
  const std::string strangers = target + ".partial-of-mine";
  const std::string kept = dead + ".kept";
  for (const std::string& one : {dead, alive, another, strangers, kept}) {
    std::filesystem::create_directory(one);
    std::ofstream(one + "/pawl.db") << "half";
  }

  CHECK(copy_now(store, target) == "ok");

  CHECK_FALSE(std::filesystem::exists(dead));
  CHECK(std::filesystem::exists(alive));
  CHECK(std::filesystem::exists(another));
  CHECK(std::filesystem::exists(strangers));
  CHECK(std::filesystem::exists(kept));
}

TEST_CASE("a copy that is made while others write is whole up to some commit") {
  constexpr std::uint64_t kRecords = 2'000;
  SqliteStore store;
  std::uint64_t durable = 0;
  const auto append_some = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t seq = from; seq < to; ++seq) {
      store.owner->append(append_of(run_id("a"), 1, seq, std::string(3'000, 'x')),
                          [&](const Status& status) { durable += status ? 1U : 0U; });
    }
  };
  append_some(0, kRecords);
  REQUIRE(store.loop.run_until([&] { return durable == kRecords; }));
  const std::string target = store.directory / "copy";
  std::optional<std::string> copied;
  store.owner->copy_to(target, [&](const Status& status) { copied = outcome(status); });
  std::uint64_t given = kRecords;
  while (!copied) {
    append_some(given, given + 1);
    ++given;
    REQUIRE(store.loop.run_until([&] { return durable == given || copied; }));
  }

  CHECK(*copied == "ok");
  const auto copy = open_store(target, store.loop);
  const auto length = copy->list({})->front().length;
  CHECK(length >= kRecords);
  CHECK(length <= given);
  CHECK(copy->read(run_id("a"), length - 1, 1)->size() == 1);
}

TEST_CASE("a copy is given up when its store is closed") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 10);
  bool called = false;
  store.owner->copy_to(store.directory / "copy", [&](const Status&) { called = true; });

  store.reopen();
  store.loop.run_posted();

  CHECK_FALSE(called);
}

}  // namespace
}  // namespace pawl
