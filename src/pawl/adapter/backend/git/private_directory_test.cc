#include "pawl/adapter/backend/git/private_directory.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

Repository repository_at(const std::string& path) {
  Repository repository;
  repository.work_tree = path;
  repository.directory = repository.common = path + "/.git";
  return repository;
}
const Owner kSelf{::geteuid(), ::getegid()};

TEST_CASE("one that is held is nobody else's, and one that was left is found again") {
  const TempDirectory directory;
  const std::string data = directory / "git";
  const Repository repository = repository_at("/w");
  std::string slot;
  {
    const auto first = PrivateDirectory::take(data, repository, kSelf);
    REQUIRE(first);
    CHECK(first->is_new());
    slot = first->slot();
    const auto second = PrivateDirectory::take(data, repository, kSelf);
    REQUIRE(second);
    CHECK(second->slot() != slot);
    CHECK(left_directories(data).empty());
    CHECK(first->keep({{}, "refs/heads/main", {}}));
    CHECK(first->write("HEAD", "ref: refs/heads/main\n"));
  }
  const auto left = left_directories(data);
  CHECK(left.size() == 2);
  auto again = PrivateDirectory::take(data, repository, kSelf);
  REQUIRE(again);
  CHECK(again->slot() == slot);
  CHECK(!again->is_new());
  CHECK(again->agreed()->head == "refs/heads/main");
  CHECK(fs::exists(again->path() + "/HEAD"));
  again->remove();
  CHECK(!fs::exists(slot));
}

TEST_CASE("one that was never agreed on starts empty") {
  const TempDirectory directory;
  const std::string data = directory / "git";
  {
    const auto begun = PrivateDirectory::take(data, repository_at("/w"), kSelf);
    REQUIRE(begun);
    CHECK(begun->write("config", "[core]\n\tfsmonitor = x\n"));
  }
  const auto next = PrivateDirectory::take(data, repository_at("/w"), kSelf);
  REQUIRE(next);
  CHECK(next->is_new());
  CHECK(!fs::exists(next->path() + "/config"));
}

TEST_CASE("a link in the place of a directory of its own is not followed") {
  const TempDirectory directory;
  const std::string data = directory / "git";
  fs::create_directories(directory / "out");
  {
    const auto first = PrivateDirectory::take(data, repository_at("/w"), kSelf);
    REQUIRE(first);
    CHECK(first->keep({{}, "refs/heads/main", {}}));
    fs::remove_all(first->path() + "/info");
    fs::create_directory_symlink(directory / "out", first->path() + "/info");
  }
  const auto next = PrivateDirectory::take(data, repository_at("/w"), kSelf);
  REQUIRE(next);
  CHECK(next->is_new());
  CHECK(next->slot().ends_with("/2"));
  CHECK(fs::is_empty(directory / "out"));
  CHECK(left_directories(data).size() == 1);
}

}  // namespace
}  // namespace pawl::git
