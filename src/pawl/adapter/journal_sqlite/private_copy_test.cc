#include "pawl/adapter/journal_sqlite/private_copy.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "tests/contract/journal_contract.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

struct CopiedStore {
  TempDirectory directory;
  TestLoop loop;
  std::unique_ptr<SqliteJournal> owner = *SqliteJournal::open(directory / "data", loop);
  SqliteJournal& journal = *owner;
};

TEST_CASE("a private copy has what is in the database and what is only in its log") {
  CopiedStore store;
  contract::make_run(store, "old", 3);
  REQUIRE(store.journal.checkpoint());
  contract::make_run(store, "new", 2);  // only in the log
  std::string path;
  {
    const auto copy = PrivateCopy::make(store.directory / "data");
    REQUIRE(copy);
    path = (*copy)->path();
    struct stat info{};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
    const auto opened = SqliteJournal::open(path, store.loop);
    REQUIRE(opened);
    CHECK_FALSE((*opened)->refusal());
    CHECK((*opened)->check());
    CHECK((*opened)->list({})->size() == 2);
    CHECK((*opened)->read(contract::run_id("new"), 0, 1'000)->size() == 2);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  // Nothing was left beside the original.
  for (const auto& entry : std::filesystem::directory_iterator(store.directory / "data")) {
    CHECK(entry.path().filename().string().starts_with("pawl."));
  }
}

TEST_CASE("a private copy is bounded, and of something") {
  CopiedStore store;
  contract::make_run(store, "a", 2);
  const auto large = PrivateCopy::make(store.directory / "data", 10'000);
  REQUIRE_FALSE(large);
  CHECK(large.error().code == ErrorCode::limit_exceeded);
  CHECK(large.error().message.find("cp -a") != std::string::npos);
  CHECK(PrivateCopy::make(store.directory / "nothing").error().code == ErrorCode::not_found);
}

TEST_CASE("what cannot be written is named") {
  const TempDirectory directory;
  CHECK(unwritable_part(directory.path()).empty());
  CHECK(unwritable_part(directory / "absent").empty());
  if (::geteuid() == 0) return;  // who may write everything
  std::ofstream(directory / "pawl.db") << "x";
  ::chmod((directory / "pawl.db").c_str(), 0400);
  CHECK(unwritable_part(directory.path()) == directory / "pawl.db");
  ::chmod(directory.path().c_str(), 0500);
  CHECK(unwritable_part(directory.path()) == directory.path());
  ::chmod(directory.path().c_str(), 0700);
}

}  // namespace
}  // namespace pawl
