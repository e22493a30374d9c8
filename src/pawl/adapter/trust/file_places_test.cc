#include "pawl/adapter/trust/file_places.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "pawl/base/files.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

std::vector<std::string> paths_to(const std::string& path) {
  std::vector<std::string> paths;
  for (const FilePlace& place : places_of(path)) paths.push_back(place.path);
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("every link on the way to a file is a place that decides what is read") {
  const TempDirectory directory;
  const std::string top = std::filesystem::canonical(directory.path()).string();
  REQUIRE(make_private_directory(top + "/real"));
  REQUIRE(write_new_file(top + "/real/file", "x"));
  std::filesystem::create_symlink("real", top + "/by-name");
  std::filesystem::create_symlink(top + "/by-name/./file", top + "/absolute");

  CHECK(paths_to(top + "/real/file") == Paths{top + "/real/file"});
  CHECK(paths_to(top + "/by-name/../real/./file") == Paths{top + "/by-name", top + "/real/file"});
  CHECK(paths_to(top + "/absolute") ==
        Paths{top + "/absolute", top + "/by-name", top + "/real/file"});
  CHECK(places_of(top + "/real/file").back().changed_ns > 0);
}

TEST_CASE("a file that is not there has a place, and links in a circle end") {
  const TempDirectory directory;
  const std::string top = std::filesystem::canonical(directory.path()).string();
  std::filesystem::create_symlink("b", top + "/a");
  std::filesystem::create_symlink("a", top + "/b");

  CHECK(paths_to(top + "/none/file") == Paths{top + "/none/file"});
  CHECK(places_of(top + "/none").back().changed_ns == 0);
  CHECK(paths_to(top + "/a").size() == kLinksFollowedMax + 1);
}

}  // namespace pawl
