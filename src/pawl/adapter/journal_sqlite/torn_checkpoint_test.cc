// A checkpoint that was cut short, anywhere: by a power cut, a full disk, a kill. The log has every
// page it was writing, so the store opens and all that was acknowledged is there.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;

constexpr std::size_t kPage = 8192;
constexpr std::size_t kLogHeader = 32;
constexpr std::size_t kFrameHeader = 24;

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::size_t big_endian_at(const std::string& bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8U | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

// What a checkpoint writes, in its order: by page number, the newest frame of each.
std::map<std::size_t, std::string> pages_of_log(const std::string& log) {
  std::map<std::size_t, std::string> pages;
  const std::string salts = log.substr(16, 8);
  for (std::size_t at = kLogHeader; at + kFrameHeader + kPage <= log.size();
       at += kFrameHeader + kPage) {
    if (log.substr(at + 8, 8) != salts) break;
    pages[big_endian_at(log, at)] = log.substr(at + kFrameHeader, kPage);
  }
  return pages;
}

// A store that has been in use for a while, so that the log holds pages of every table, old and
// new, and pages that were of another table before.
struct Busy {
  Busy() {
    StoreView view = store.view();
    for (int i = 0; i < 12; ++i) make_run(view, "old" + std::to_string(i), 6);
    remove("old3");
    remove("old7");
    REQUIRE(store.owner->checkpoint());
    remove("old1");
    for (int i = 0; i < 12; ++i) {
      const RunId run = make_run(view, "new" + std::to_string(i), 4);
      acknowledged[run.text] = 4;
      if (i % 3 == 0) post(run);
    }
    for (int i : {0, 2, 4, 5, 6, 8, 9, 10, 11}) {
      const std::string name = "old" + std::to_string(i);
      REQUIRE(append_now(view, append_of(RunId{name}, 1, 6, std::string(3'000, 'x'))) == "ok");
      acknowledged[name] = 7;
    }
    for (const char* file : {"pawl.db", "pawl.db-wal", "pawl.mark"}) {
      files[file] = bytes_of_file(store.directory / "store/" + file);
    }
  }

  void remove(const std::string& name) {
    bool over = false;
    store.owner->remove(RunId{name}, [&](const Status&) { over = true; });
    REQUIRE(store.loop.run_until([&] { return over; }));
  }
  void post(const RunId& run) {
    bool over = false;
    store.owner->post(run, 1, std::string(2'000, 'm'), [&](const Status&) { over = true; });
    REQUIRE(store.loop.run_until([&] { return over; }));
  }

  // The database with the first so many bytes of the checkpoint written.
  std::string cut_after(std::size_t written) const {
    std::string database = files.at("pawl.db");
    for (const auto& [number, page] : pages_of_log(files.at("pawl.db-wal"))) {
      const std::size_t part = std::min(written, kPage);
      const std::size_t at = (number - 1) * kPage;
      if (database.size() < at + part) database.resize(at + part, '\0');
      database.replace(at, part, page, 0, part);
      written -= part;
      if (written == 0) break;
    }
    return database;
  }

  SqliteStore store;
  std::map<std::string, std::size_t> acknowledged;  // records
  std::map<std::string, std::string> files;
};

void check_all_is_there(const Busy& busy, const std::string& path) {
  TestLoop loop;
  const auto opened = SqliteJournal::open(path, loop);
  REQUIRE_MESSAGE(opened, opened.error().message);
  REQUIRE_FALSE((*opened)->refusal());
  for (const auto& [run, records] : busy.acknowledged) {
    const auto read = (*opened)->read(RunId{run}, 0, 1U << 20U);
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(read->size() == records);
  }
  CHECK((*opened)->check());
}

}  // namespace

TEST_CASE(
    "a checkpoint that was cut inside a page leaves a store that opens with all that was in it") {
  const Busy busy;
  const std::size_t pages = pages_of_log(busy.files.at("pawl.db-wal")).size();
  REQUIRE(pages > 10);
  const TempDirectory directory;
  const std::string path = directory / "torn";
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  // Every page is cut once, at another of its sectors; tests/faults cuts at all of them.
  for (std::size_t page = 0; page < pages; ++page) {
    const std::size_t written = page * kPage + 512 * (1 + page * 5 % 15);
    CAPTURE(written);
    std::filesystem::remove(path + "/pawl.db-shm");
    put_file(path + "/pawl.db", busy.cut_after(written));
    put_file(path + "/pawl.db-wal", busy.files.at("pawl.db-wal"));
    put_file(path + "/pawl.mark", busy.files.at("pawl.mark"));
    check_all_is_there(busy, path);
  }
}

TEST_CASE("pages that a checkpoint wrote in another order are no evidence against the log either") {
  const Busy busy;
  const auto pages = pages_of_log(busy.files.at("pawl.db-wal"));
  const TempDirectory directory;
  const std::string path = directory / "torn";
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  for (std::size_t round = 0; round < 8; ++round) {
    std::string database = busy.files.at("pawl.db");
    std::size_t index = 0;
    for (const auto& [number, page] : pages) {
      const std::size_t at = (number - 1) * kPage;
      if (database.size() < at + kPage) database.resize(at + kPage, '\0');
      // A disk may keep any of the sectors that were not synced.
      for (std::size_t sector = 0; sector < kPage; sector += 512) {
        if ((++index * 2654435761U >> (8 + round)) % 2 == 0) continue;
        database.replace(at + sector, 512, page, sector, 512);
      }
    }
    std::filesystem::remove(path + "/pawl.db-shm");
    put_file(path + "/pawl.db", database);
    put_file(path + "/pawl.db-wal", busy.files.at("pawl.db-wal"));
    put_file(path + "/pawl.mark", busy.files.at("pawl.mark"));
    check_all_is_there(busy, path);
  }
}

}  // namespace pawl
