#include "pawl/adapter/journal_sqlite/data_directory.h"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::outcome;

std::string open_outcome(const std::string& path) {
  TestLoop loop;
  return outcome(SqliteJournal::open(path, loop));
}

std::string open_message(const std::string& path) {
  TestLoop loop;
  const auto journal = SqliteJournal::open(path, loop);
  return journal ? "" : journal.error().message;
}

unsigned mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Name, bytes and time of the last change of everything in a directory, and of itself.
std::map<std::string, std::string> picture_of(const std::string& path) {
  std::map<std::string, std::string> picture;
  const auto stamp = [](const std::string& file) {
    struct stat info{};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    return std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + " " +
           std::to_string(info.st_mode) + " ";
  };
  picture["."] = stamp(path);
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    picture[entry.path().filename().string()] = stamp(entry.path().string()) + bytes.str();
  }
  return picture;
}

TEST_CASE("directory and files are private whatever the umask") {
  const TempDirectory directory;
  for (const mode_t mask : {0000U, 0022U, 0777U}) {
    const std::string path = directory / ("parent" + std::to_string(mask) + "/store");
    const mode_t before = ::umask(mask);
    TestLoop loop;
    const auto journal = SqliteJournal::open(path, loop);
    ::umask(before);
    REQUIRE(outcome(journal) == "ok");
    CHECK(mode_of(path) == 0700);
    for (const char* name : {"pawl.db", "pawl.db-wal", "pawl.db-shm", "pawl.lock"}) {
      CHECK(mode_of(path + "/" + name) == 0600);
    }
  }
}

TEST_CASE("a directory that others may write to is refused") {
  const TempDirectory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0770) == 0);
  CHECK(open_outcome(directory.path()) == "invalid_argument");
  REQUIRE(::chmod(directory.path().c_str(), 0702) == 0);
  CHECK(open_outcome(directory.path()) == "invalid_argument");
  CHECK(std::filesystem::is_empty(directory.path()));

  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  CHECK(open_outcome(directory.path()) == "ok");
}

// As another user, in a child: root may write everywhere.
TEST_CASE("a directory that cannot be written, or is another's, is refused with a plain message") {
  if (::geteuid() != 0) return;
  constexpr uid_t kNobody = 65534;
  for (const mode_t mode : {0500U, 0700U}) {
    const TempDirectory directory;
    if (mode == 0500) REQUIRE(::chown(directory.path().c_str(), kNobody, kNobody) == 0);
    REQUIRE(::chmod(directory.path().c_str(), mode == 0500 ? mode : 0755) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const bool dropped = ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
      const std::string message = open_message(directory.path());
      const char* expected = mode == 0500 ? "cannot be written" : "belongs to another user";
      ::_exit(dropped && message.find(expected) != std::string::npos ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(std::filesystem::is_empty(directory.path()));
  }
}

TEST_CASE("a path that cannot be a directory is refused") {
  const TempDirectory directory;
  write_file(directory / "file", "x");
  CHECK(open_outcome(directory / "file") == "invalid_argument");
  CHECK(open_outcome(directory / "file/store") == "unavailable");
  CHECK(open_outcome("/proc/no/such/place") == "unavailable");
}

TEST_CASE("another program's files are refused and left alone") {
  const TempDirectory directory;
  SUBCASE("not a database") {
    write_file(directory / "pawl.db", "hello");
  }
  SUBCASE("not a database, and long") {
    write_file(directory / "pawl.db", std::string(10'000, 'x'));
  }
  SUBCASE("zeros") {
    write_file(directory / "pawl.db", std::string(10'000, '\0'));
  }
  SUBCASE("a database") {
    execute(directory / "pawl.db", "CREATE TABLE t (x)");
  }
  SUBCASE("a database with the same tables") {
    execute(directory / "pawl.db", "CREATE TABLE runs (x); CREATE TABLE journal (x)");
  }
  const auto before = picture_of(directory.path());

  CHECK(open_outcome(directory.path()) == "invalid_argument");

  CHECK(picture_of(directory.path()) == before);
}

TEST_CASE("a newer store is refused and left alone, to the time of its last change") {
  const TempDirectory directory;
  REQUIRE(open_outcome(directory.path()) == "ok");
  SUBCASE("and it was closed well") {
    execute(directory / "pawl.db", "PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)");
  }
  SUBCASE("and the lock file is gone") {
    execute(directory / "pawl.db", "PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)");
    std::filesystem::remove(directory / "pawl.lock");
  }
  SUBCASE("and only its log says so") {
    const pid_t child = ::fork();
    if (child == 0) {
      sqlite3* handle = nullptr;
      sqlite3_open((directory / "pawl.db").c_str(), &handle);
      sqlite3_exec(handle, "PRAGMA user_version = 2", nullptr, nullptr, nullptr);
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(std::filesystem::file_size(directory / "pawl.db-wal") > 0);
  }
  const auto before = picture_of(directory.path());

  const std::string message = open_message(directory.path());

  CHECK(message.find("newer Pawl") != std::string::npos);
  CHECK(message.find("store version 2") != std::string::npos);
  CHECK(picture_of(directory.path()) == before);
}

TEST_CASE("a newer store that is open elsewhere is refused too") {
  const TempDirectory directory;
  TestLoop loop;
  const auto journal = SqliteJournal::open(directory.path(), loop);
  REQUIRE(journal);
  execute(directory / "pawl.db", "PRAGMA user_version = 2");

  CHECK(open_outcome(directory.path()) == "invalid_argument");
}

TEST_CASE("a log without its database is refused, a database without its log is not") {
  const TempDirectory directory;
  REQUIRE(open_outcome(directory.path()) == "ok");
  std::filesystem::rename(directory / "pawl.db", directory / "kept");
  write_file(directory / "pawl.db-wal", "x");
  CHECK(open_outcome(directory.path()) == "corrupt");

  std::filesystem::rename(directory / "kept", directory / "pawl.db");
  std::filesystem::remove(directory / "pawl.db-wal");
  CHECK(open_outcome(directory.path()) == "ok");
}

TEST_CASE("a database that was emptied is not taken for a new one") {
  const TempDirectory directory;
  REQUIRE(open_outcome(directory.path()) == "ok");
  write_file(directory / "pawl.db", "");
  REQUIRE(std::filesystem::file_size(directory / "pawl.db-wal") == 0);
  SUBCASE("its log is left, without a byte") {
    std::filesystem::remove(directory / "pawl.db-shm");
  }
  SUBCASE("the index of its log is left") {
    std::filesystem::remove(directory / "pawl.db-wal");
  }
  const auto before = picture_of(directory.path());

  CHECK(open_outcome(directory.path()) == "corrupt");
  CHECK(open_message(directory.path()).find("pawl.db is missing or empty") != std::string::npos);
  CHECK(picture_of(directory.path()) == before);
  for (const char* name : {"pawl.db-wal", "pawl.db-shm"}) {
    std::filesystem::remove(directory / name);
  }
  CHECK(open_outcome(directory.path()) == "ok");
}

TEST_CASE("what is not a file is refused by name, and nobody waits for it") {
  for (const char* name : {"pawl.db", "pawl.db-wal", "pawl.db-shm", "pawl.lock"}) {
    for (const char* kind : {"pipe", "directory", "link"}) {
      INFO(name << " is a " << kind);
      const TempDirectory directory;
      REQUIRE(open_outcome(directory.path()) == "ok");
      const std::string path = directory / name;
      std::filesystem::rename(path, directory / "kept");
      if (kind == std::string("pipe")) REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
      if (kind == std::string("directory")) std::filesystem::create_directory(path);
      if (kind == std::string("link")) std::filesystem::create_symlink("kept", path);

      CHECK(open_outcome(directory.path()) != "ok");
      CHECK(open_message(directory.path()).find(name) != std::string::npos);
      std::filesystem::remove(path);
      std::filesystem::rename(directory / "kept", path);
      CHECK(open_outcome(directory.path()) == "ok");
    }
  }
}

// Kept from a transaction that was rolled back: SQLite believes it.
std::string rollback_journal(const std::string& database) {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(database.c_str(), &handle) == SQLITE_OK);
  const auto run = [handle](const char* sql) {
    REQUIRE(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  };
  run("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN");
  run("INSERT INTO inbox (run, at, body) VALUES (1, 1, zeroblob(100000))");
  std::ostringstream bytes;
  bytes << std::ifstream(database + "-journal", std::ios::binary).rdbuf();
  run("ROLLBACK");
  sqlite3_close(handle);
  return bytes.str();
}

TEST_CASE("a rollback journal beside a log is refused before SQLite sees it") {
  const TempDirectory directory;
  REQUIRE(open_outcome(directory.path()) == "ok");
  const std::string journal = rollback_journal(directory / "pawl.db");
  REQUIRE(journal.size() > 512);
  REQUIRE(open_outcome(directory.path()) == "ok");
  write_file(directory / "pawl.db-journal", journal);
  const auto before = picture_of(directory.path());

  CHECK(open_outcome(directory.path()) == "corrupt");
  CHECK(open_message(directory.path()).find("pawl.db-journal") != std::string::npos);
  CHECK(picture_of(directory.path()) == before);

  write_file(directory / "pawl.db-journal", "not one that SQLite believes");
  CHECK(open_outcome(directory.path()) == "ok");
}

TEST_CASE("a store whose making was interrupted is made again") {
  const TempDirectory directory;
  SUBCASE("before SQLite") {
    write_file(directory / "pawl.db", "");
  }
  SUBCASE("in the transaction that makes the tables") {
    const pid_t child = ::fork();
    if (child == 0) {
      sqlite3* handle = nullptr;
      sqlite3_open((directory / "pawl.db").c_str(), &handle);
      sqlite3_exec(handle,
                   "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; CREATE TABLE t (x);"
                   "INSERT INTO t VALUES (zeroblob(100000))",
                   nullptr, nullptr, nullptr);
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(std::filesystem::exists(directory / "pawl.db-journal"));
  }

  CHECK(open_outcome(directory.path()) == "ok");
  CHECK(open_outcome(directory.path()) == "ok");
}

}  // namespace
}  // namespace pawl
