#include "pawl/adapter/backend/git/left_repositories.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/git/git_test_support.h"
#include "pawl/adapter/backend/git/session_record.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

TEST_CASE("what is called .git and is no repository is moved to where taken things are") {
  const TempDirectory directory;
  fs::create_directories(directory / "work");
  std::ofstream(directory / "work/.git") << "gitdir: /elsewhere\n";
  const auto where = take_git(directory / "work/.git", {directory / "taken", "r"});
  REQUIRE(where);
  CHECK(!fs::exists(directory / "work/.git"));
  CHECK(*where == directory / "taken/r/1/.git");
}

TEST_CASE("a bare repository of a killed session is none any more, an operator's stays") {
  GitBench bench;
  bench.outside("git init -q --bare own.git");
  {
    const auto record = KeptRecord::make(bench.data());
    REQUIRE(record);
    REQUIRE(record->write({{bench.work()}, {bench.work(), bench.work() + "/own.git"}}));
  }
  bench.outside("mkdir -p deep/er && git init -q --bare deep/er/made");
  const TempDirectory taken;
  const auto said = take_left_repositories(&bench.git(), bench.data(), {taken / "taken", "r"});
  CHECK(said.size() == 1);
  CHECK(!fs::exists(bench.work() + "/deep/er/made/HEAD"));
  CHECK(fs::exists(bench.work() + "/own.git/HEAD"));
  CHECK(take_left_repositories(&bench.git(), bench.data(), {taken / "taken", "r"}).empty());
}

}  // namespace
}  // namespace pawl::git
