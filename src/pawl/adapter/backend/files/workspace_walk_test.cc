#include "pawl/adapter/backend/files/workspace_walk.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::backend {
namespace {

TEST_CASE("nested repositories and protected names are found at any depth, each once") {
  const TempDirectory directory;
  for (const char* path : {".git", "a/b/.git/modules", "a/.ssh/inner/.envrc", "node_modules/x/.git",
                           "c/.cargo", "linked"}) {
    std::filesystem::create_directories(directory / path);
  }
  std::ofstream(directory / "linked/.git") << "gitdir: elsewhere\n";
  std::ofstream(directory / "c/.cargo/credentials") << "x";
  std::ofstream(directory / "c/my.envrc") << "x";
  const auto found =
      walk_workspace({directory.path(), directory / "a"}, {".ssh", ".envrc", ".cargo/credentials"});
  REQUIRE(found);
  CHECK(found->complete);
  CHECK(found->repositories ==
        std::vector<std::string>{directory.path(), directory / "a/b", directory / "linked"});
  CHECK(found->names ==
        std::vector<std::string>{directory / "a/.ssh", directory / "c/.cargo/credentials"});
}

TEST_CASE("more names than the maximum end the walk, and it says so") {
  const TempDirectory directory;
  for (std::size_t i = 0; i <= kFoundNamesMax; ++i) {
    std::filesystem::create_directories(directory / (std::to_string(i) + "/.ssh"));
  }
  const auto found = walk_workspace({directory.path()}, {".ssh"});
  REQUIRE(found);
  CHECK_FALSE(found->complete);
  CHECK(found->names.size() == kFoundNamesMax);
}

TEST_CASE("a link is not followed") {
  const TempDirectory directory;
  const TempDirectory elsewhere;
  std::filesystem::create_directories(elsewhere / ".git");
  std::filesystem::create_directory_symlink(elsewhere.path(), directory / "link");
  const auto found = walk_workspace({directory.path()}, {});
  REQUIRE(found);
  CHECK(found->repositories.empty());
}

}  // namespace
}  // namespace pawl::backend
