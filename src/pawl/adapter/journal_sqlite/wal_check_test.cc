#include "pawl/adapter/journal_sqlite/wal_check.h"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <vector>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using std::string_literals::operator""s;
using contract::append_now;
using contract::append_of;
using contract::outcome;
using contract::run_id;

constexpr std::uint64_t kCommits = 24;
constexpr std::size_t kFrameBytes = 24 + sqlite::kPageBytes;

std::string bytes_of(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

bool is_commit(const std::string& log, std::size_t frame) {
  const std::size_t at = 32 + frame * kFrameBytes + 4;
  return log.compare(at, 4, std::string(4, '\0')) != 0;
}

// A store that a process was killed in, with every commit still in the log.
struct KilledStore {
  KilledStore() {
    in_child([this] {
      TestLoop loop;
      SqliteOptions options;
      options.log_pages_max = 1'000'000;
      auto journal = SqliteJournal::open(path, loop, options);
      StoreView view{loop, **journal};
      for (std::uint64_t seq = 0; seq < kCommits; ++seq) {
        // With a blob, so that a transaction has several frames.
        Append append = append_of(run_id("a"), 1, seq, std::string(5000, 'x'));
        append.blobs = {contract::blob_of("blob " + std::to_string(seq))};
        append_now(view, std::move(append));
      }
      ::_exit(0);
    });
    log = bytes_of(log_path);
    frames = (log.size() - 32) / kFrameBytes;
    find_last();
    REQUIRE(is_commit(log, frames - 1));
    REQUIRE(last_begins > 0);
  }

  void find_last() {
    last_begins = 0;
    for (std::size_t frame = 0; frame + 1 < frames; ++frame) {
      if (is_commit(log, frame)) last_begins = frame + 1;
    }
  }

  // Takes the last transaction away; the number of the last frame that is left.
  std::size_t cut_last() {
    frames = last_begins;
    log.resize(32 + frames * kFrameBytes);
    std::filesystem::resize_file(log_path, log.size());
    find_last();
    return frames - 1;
  }

  bool commit_is_power_of_two(std::size_t frame) const {
    const std::string pages = log.substr(32 + frame * kFrameBytes + 4, 4);
    return std::popcount(static_cast<unsigned char>(pages[3])) == 1 && pages.starts_with("\0\0\0"s);
  }

  std::string check(const std::string& bytes) const {
    write_file(log_path, bytes);
    return outcome(sqlite::check_log(log_path, {sqlite::kPageBytes}));
  }

  // With one bit flipped in place, and put back.
  std::string check_flipped(std::size_t bit) const {
    std::fstream file(log_path, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](char byte) {
      file.seekp(static_cast<std::streamoff>(bit / 8));
      file.put(byte);
      file.flush();
    };
    put(static_cast<char>(log[bit / 8] ^ (1 << bit % 8)));
    const std::string found = outcome(sqlite::check_log(log_path, {sqlite::kPageBytes}));
    put(log[bit / 8]);
    return found;
  }

  // How many records a store with this log has; or why it cannot be opened.
  std::string open(const std::string& bytes) const {
    const TempDirectory copy;
    std::filesystem::copy(path + "/pawl.db", copy / "pawl.db");
    write_file(copy / "pawl.db-wal", bytes);
    TestLoop loop;
    const auto journal = SqliteJournal::open(copy.path(), loop);
    if (!journal) return std::string(name(journal.error().code));
    const auto records = (*journal)->read(run_id("a"), 0, 1U << 30U);
    return records ? std::to_string(records->size()) : std::string(name(records.error().code));
  }

  TempDirectory directory;
  std::string path = directory.path();
  std::string log_path = directory / "pawl.db-wal";
  std::string log;
  std::size_t frames = 0;
  std::size_t last_begins = 0;  // first frame of the last transaction
};

std::string flipped(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

TEST_CASE("a log left by a killed process is whole") {
  const KilledStore store;
  const auto report = sqlite::check_log(store.log_path, {sqlite::kPageBytes});

  REQUIRE(report);
  CHECK(report->frames_committed == store.frames);
  CHECK(report->torn_bytes == 0);
  CHECK(store.open(store.log) == std::to_string(kCommits));
}

// Each transaction in turn is the last but one: the hardest place to tell damage from a torn end.
// A sync may have failed before the crash: then what is read here is in memory, and on no disk.
TEST_CASE("what a crash left in the log is written back before anything is built on it") {
  const KilledStore store;
  TestLoop loop;
  const auto journal = open_store(store.path, loop);
  CHECK(std::filesystem::file_size(store.log_path) == 0);
  CHECK(journal->read(run_id("a"), 0, SIZE_MAX)->size() == kCommits);
}

TEST_CASE("any flipped bit of a header before the last commit is refused") {
  KilledStore store;
  int powers_of_two = 0;
  for (std::size_t bit = 0; bit < 32 * 8; ++bit) REQUIRE(store.check_flipped(bit) == "corrupt");
  for (std::size_t last = store.frames - 1; store.last_begins > 0; last = store.cut_last()) {
    std::size_t frame = store.last_begins - 1;
    powers_of_two += store.commit_is_power_of_two(frame) ? 1 : 0;
    do {
      for (std::size_t bit = 0; bit < 24 * 8; ++bit) {
        INFO("frame " << frame << " of " << last << " bit " << bit);
        REQUIRE(store.check_flipped((32 + frame * kFrameBytes) * 8 + bit) == "corrupt");
      }
    } while (frame-- > 0 && !is_commit(store.log, frame));
  }
  CHECK(powers_of_two > 0);  // one flipped bit makes such a commit look like none
}

TEST_CASE("any flipped bit of a page before the last commit is refused") {
  KilledStore store;
  std::mt19937_64 random(7);
  for (; store.last_begins > 0; store.cut_last()) {
    for (int round = 0; round < 150; ++round) {
      const std::size_t frame = random() % store.last_begins;
      const std::size_t byte = 32 + frame * kFrameBytes + 24 + random() % sqlite::kPageBytes;
      INFO("frame " << frame << " byte " << byte);
      REQUIRE(store.check_flipped(byte * 8 + random() % 8) == "corrupt");
    }
  }
}

TEST_CASE("a flipped bit of the last commit is refused, or costs only that commit") {
  const KilledStore store;
  std::mt19937_64 random(7);
  for (std::size_t frame = store.last_begins; frame < store.frames; ++frame) {
    for (int round = 0; round < 30; ++round) {
      const std::size_t head = round % 2 == 0 ? 24 : kFrameBytes;
      const std::size_t byte = 32 + frame * kFrameBytes + random() % head;
      const std::string bytes = flipped(store.log, byte * 8 + random() % 8);
      const std::string found = store.open(bytes);
      INFO("frame " << frame << " byte " << byte);
      REQUIRE((found == "corrupt" || found == std::to_string(kCommits - 1)));
    }
  }
}

TEST_CASE("damage is refused with its place, and nothing is changed") {
  const KilledStore store;
  const std::size_t offset = 32 + 5 * kFrameBytes;
  const std::string bytes = flipped(store.log, (offset + 1000) * 8);
  write_file(store.log_path, bytes);
  const std::string database = bytes_of(store.path + "/pawl.db");
  TestLoop loop;

  const auto journal = SqliteJournal::open(store.path, loop);

  REQUIRE(outcome(journal) == "corrupt");
  CHECK(journal.error().message.find("frame 6 at byte " + std::to_string(offset)) !=
        std::string::npos);
  CHECK(bytes_of(store.log_path) == bytes);
  CHECK(bytes_of(store.path + "/pawl.db") == database);
}

TEST_CASE("a damaged header is noticed by a log of one frame too") {
  const KilledStore store;
  const std::string log = store.log.substr(0, 32 + kFrameBytes);
  REQUIRE(store.check(log) == "ok");
  for (std::size_t byte = 0; byte < 32; ++byte) {
    CAPTURE(byte);
    std::string flipped = log;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 1);
    CHECK(store.check(flipped) == "corrupt");
  }
}

TEST_CASE("wiped blocks are refused while later commits remain") {
  const KilledStore store;
  for (std::size_t block = 0; block < store.last_begins * kFrameBytes / 4096 - 8; ++block) {
    std::string bytes = store.log;
    bytes.replace(block * 4096, 4096, 4096, '\0');
    if (bytes == store.log) continue;
    INFO("block " << block);
    REQUIRE(store.check(bytes) == "corrupt");
  }
}

TEST_CASE("a torn end is cut, wherever it is torn") {
  const KilledStore store;
  const std::size_t last = 32 + store.last_begins * kFrameBytes;
  for (std::size_t size = last; size < store.log.size(); size += 331) {
    REQUIRE(store.check(store.log.substr(0, size)) == "ok");
  }
  CHECK(store.open(store.log.substr(0, last)) == std::to_string(kCommits - 1));
  CHECK(store.open(store.log.substr(0, last + 9000)) == std::to_string(kCommits - 1));
  CHECK(store.open(store.log.substr(0, store.log.size() - 1)) == std::to_string(kCommits - 1));
  for (std::size_t size = 0; size < 40; ++size)
    CHECK(store.check(store.log.substr(0, size)) == "ok");
}

TEST_CASE("two wounds of one commit do not hide those behind it") {
  const KilledStore store;
  std::size_t begins = 0;
  for (std::size_t frame = 0; frame < store.last_begins; ++frame) {
    if (!is_commit(store.log, frame)) continue;
    const std::size_t page = (32 + begins * kFrameBytes + 24 + 100) * 8;
    const std::size_t sum = (32 + frame * kFrameBytes + 16) * 8;
    INFO("frames " << begins << " to " << frame);
    CHECK(store.check(flipped(flipped(store.log, page), sum)) == "corrupt");
    begins = frame + 1;
  }
}

TEST_CASE("a newer version that was never committed is none") {
  KilledStore store;
  in_child([&store] {
    sqlite3* handle = nullptr;
    sqlite3_open((store.path + "/pawl.db").c_str(), &handle);
    sqlite3_exec(handle,
                 "PRAGMA wal_autocheckpoint = 0; BEGIN; PRAGMA user_version = 9;"
                 "INSERT INTO inbox (run, at, body) VALUES (1, 1, zeroblob(50000)); COMMIT",
                 nullptr, nullptr, nullptr);
    ::_exit(0);
  });
  const std::string log = bytes_of(store.log_path);
  REQUIRE(log.size() > store.log.size() + kFrameBytes);

  CHECK(store.open(log) == "invalid_argument");
  CHECK(store.open(log.substr(0, log.size() - kFrameBytes)) == std::to_string(kCommits));
}

// Power may fail with the later blocks of a transaction on disk and the earlier ones not.
TEST_CASE("a transaction whose first frame never reached the disk is cut") {
  const KilledStore store;
  const std::size_t last = 32 + store.last_begins * kFrameBytes;
  for (const std::size_t size : {std::size_t{512}, std::size_t{4096}, kFrameBytes}) {
    std::string bytes = store.log;
    bytes.replace(last, size, size, '\0');
    write_file(store.log_path, bytes);
    const auto report = sqlite::check_log(store.log_path, {sqlite::kPageBytes});
    REQUIRE(report);
    CHECK(report->torn_bytes > 0);
    CHECK(store.open(bytes) == std::to_string(kCommits - 1));
  }
}

TEST_CASE("frames of an older log, and of a transaction that was rolled back, are no damage") {
  const TempDirectory directory;
  const auto run_sql = [&](const std::string& sql) {
    in_child([&] {
      sqlite3* handle = nullptr;
      sqlite3_open((directory / "pawl.db").c_str(), &handle);
      const int code = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
      ::_exit(code == SQLITE_OK ? 0 : 1);
    });
  };
  run_sql("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
  const std::string spill =
      "PRAGMA cache_size = 5; BEGIN; INSERT INTO t VALUES "
      "(zeroblob(900000)); ROLLBACK; INSERT INTO t VALUES (1);";
  SUBCASE("rolled back") {
    run_sql(spill);
  }
  SUBCASE("older") {
    run_sql(
        "PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (zeroblob(900000));"
        "INSERT INTO t VALUES (2); PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (3)");
  }
  SUBCASE("both") {
    run_sql(
        "PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (zeroblob(2000000));"
        "INSERT INTO t VALUES (2); PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (3);" +
        spill + spill);
  }
  REQUIRE(std::filesystem::file_size(directory / "pawl.db-wal") > 800'000);

  const auto report = sqlite::check_log(directory / "pawl.db-wal", {sqlite::kPageBytes});

  CHECK(outcome(report) == "ok");
}

// The database itself has no checksums: what is in it is held together by the chain.
TEST_CASE("a flipped bit of a stored record is found by its chain") {
  const TempDirectory directory;
  const RunId run = run_id("a");
  std::vector<std::string> contents;
  {
    TestLoop loop;
    auto journal = SqliteJournal::open(directory.path(), loop);
    StoreView view{loop, **journal};
    for (std::uint64_t seq = 0; seq < 10; ++seq) {
      contents.push_back("record number " + std::to_string(seq) + " of a run");
      Append append = append_of(run, 1, seq, contents.back());
      append.chain = contract::chain_after(run, contents);
      REQUIRE(append_now(view, append) == "ok");
    }
  }
  const std::string database = bytes_of(directory / "pawl.db");
  const std::size_t at = database.find(contents[4]);
  REQUIRE(at != std::string::npos);
  // The row's seq lies before the payload, the chain behind it.
  for (std::size_t bit = at * 8; bit < (at + contents[4].size() + 32) * 8; bit += 7) {
    write_file(directory / "pawl.db", flipped(database, bit));
    TestLoop loop;
    const auto journal = SqliteJournal::open(directory.path(), loop);
    REQUIRE(journal);
    const auto records = (*journal)->read(run, 0, 1U << 20U);
    bool intact = records && records->size() == 10;
    std::vector<std::string> read;
    for (std::size_t seq = 0; intact && seq < 10; ++seq) {
      read.push_back((*records)[seq].bytes);
      intact = (*records)[seq].chain == contract::chain_after(run, read);
    }
    INFO("bit " << bit - at * 8);
    REQUIRE_FALSE(intact);
  }
}

}  // namespace
}  // namespace pawl
