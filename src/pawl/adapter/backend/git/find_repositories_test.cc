#include "pawl/adapter/backend/git/find_repositories.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

TEST_CASE("repositories are found at any depth, each once") {
  const TempDirectory directory;
  fs::create_directories(directory / ".git/modules/x/.git");
  fs::create_directories(directory / "a/b");
  std::ofstream(directory / "a/b/.git") << "gitdir: /x";
  fs::create_directories(directory / "node_modules/c/.git");
  fs::create_directories(directory / "out/.git");
  fs::create_directory_symlink(directory / "out", directory / "a/link");
  const auto found = find_repositories({directory.path(), directory / "a"});
  CHECK(found.complete);
  auto places = found.work_trees;
  std::ranges::sort(places);
  CHECK(places == std::vector<std::string>{directory.path(), directory / "a/b",
                                           directory / "node_modules/c", directory / "out"});
  CHECK(found.bare.empty());
}

TEST_CASE("a directory that git takes for a repository is found, whatever its name") {
  const TempDirectory directory;
  for (const char* part : {"x/y/objects", "x/y/refs", "z/objects"}) {
    fs::create_directories(directory / part);
  }
  for (const char* part : {"x/y/HEAD", "z/HEAD", "HEAD"}) std::ofstream(directory / part) << "x";
  CHECK(find_repositories({directory.path()}).bare == std::vector<std::string>{directory / "x/y"});
  CHECK(find_repositories({directory.path()}, {}, {directory / "x"}).bare.empty());
}

TEST_CASE("a walk that does not see all says so") {
  const TempDirectory directory;
  std::string deep = directory / "d";
  for (std::size_t i = 0; i <= kFindDepthMax; ++i) deep += "/d";
  fs::create_directories(deep);
  CHECK(!find_repositories({directory.path()}).complete);
  CHECK(find_repositories({directory.path()}, kFindAll).complete);
  const TempDirectory many;
  for (std::size_t i = 0; i <= kFoundRepositoriesMax; ++i) {
    fs::create_directories(many / (std::to_string(i) + "/.git"));
  }
  const auto found = find_repositories({many.path()});
  CHECK(!found.complete);
  CHECK(found.work_trees.size() == kFoundRepositoriesMax);
}

}  // namespace
}  // namespace pawl::git
