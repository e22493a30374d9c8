#include "pawl/adapter/journal_sqlite/copying_beside.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "pawl/adapter/journal_sqlite/ledger.h"
#include "tests/support/temp_directory.h"

namespace pawl::sqlite {
namespace {

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void put(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST_CASE("what lies beside the database is copied, with its links and without other things") {
  const TempDirectory directory;
  const std::string from = directory / "from";
  const std::string to = directory / "to";
  std::filesystem::create_directories(to);
  put(from + "/remembered.jsonl", "{}\n");
  put(from + "/inputs/r/notes.txt", "notes");
  put(from + "/artifacts/r/out-1", std::string(100'000, 'x'));
  put(from + "/git/1/private/objects/ab/cd", "an object");
  put(from + "/git/1/private/refs/heads/main", "its name");
  put(from + "/taken/r/1/.envrc", "taken");
  put(from + "/logs/r.log", "a log");
  put(from + "/strange", "?");
  std::filesystem::create_directory_symlink(from + "/inputs/r", from + "/inputs/fork");
  REQUIRE(::mkfifo((from + "/artifacts/r/pipe").c_str(), 0600) == 0);
  const std::atomic<bool> stop{false};

  REQUIRE(copy_beside(from, to, stop));

  CHECK(content_of(to + "/remembered.jsonl") == "{}\n");
  CHECK(content_of(to + "/inputs/r/notes.txt") == "notes");
  CHECK(content_of(to + "/artifacts/r/out-1").size() == 100'000);
  CHECK(std::filesystem::read_symlink(to + "/inputs/fork") == from + "/inputs/r");
  CHECK_FALSE(std::filesystem::exists(to + "/artifacts/r/pipe"));
  CHECK(content_of(to + "/git/1/private/objects/ab/cd") == "an object");
  CHECK(content_of(to + "/git/1/private/refs/heads/main") == "its name");
  CHECK_FALSE(std::filesystem::exists(to + "/taken"));
  CHECK_FALSE(std::filesystem::exists(to + "/logs"));
  CHECK_FALSE(std::filesystem::exists(to + "/strange"));
  struct stat info{};
  REQUIRE(::stat((to + "/inputs").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  REQUIRE(::stat((to + "/remembered.jsonl").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a copy has what tenants have spent") {
  const TempDirectory directory;
  const std::string from = directory / "from";
  const std::string to = directory / "to";
  std::filesystem::create_directories(from);
  std::filesystem::create_directories(to);
  ::chmod(from.c_str(), 0700);
  SqliteLedger ledger(from);
  REQUIRE(ledger.raise("acme", {7, 0, 0}, 1'000));
  const std::atomic<bool> stop{false};

  REQUIRE(copy_beside(from, to, stop));

  CHECK(std::filesystem::exists(to + "/budget.db"));
  CHECK_FALSE(std::filesystem::exists(to + "/budget.db-wal"));
  struct stat info{};
  REQUIRE(::stat((to + "/budget.db").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  SqliteLedger copy(to);
  const auto entries = copy.entries("acme", 1'000);
  REQUIRE(entries);
  REQUIRE(entries->size() == 1);
  CHECK(entries->front().raised == BudgetAmount{7, 0, 0});
}

TEST_CASE("a ledger that nobody has made yet is no reason not to copy") {
  const TempDirectory directory;
  const std::string from = directory / "from";
  const std::string to = directory / "to";
  std::filesystem::create_directories(to);
  ::chmod(to.c_str(), 0700);
  put(from + "/budget.db", "");
  const std::atomic<bool> stop{false};

  const Status copied = copy_beside(from, to, stop);

  REQUIRE_MESSAGE(copied, copied.error().message);
  CHECK(SqliteLedger(to).raise("acme", {7, 0, 0}, 1'000));
}

TEST_CASE("a copy that is stopped, or of nothing, says so or is empty") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "to");
  std::filesystem::create_directories(directory / "from/inputs");
  const std::atomic<bool> stop{true};
  const Status stopped = copy_beside(directory / "from", directory / "to", stop);
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
  const std::atomic<bool> go{false};
  CHECK(copy_beside(directory / "nothing", directory / "to", go));
}

}  // namespace
}  // namespace pawl::sqlite
