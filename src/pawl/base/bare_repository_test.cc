#include "pawl/base/bare_repository.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "pawl/base/descriptor.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

bool is_bare_with(const std::vector<std::string>& names, mode_t mode = 0755) {
  std::string path = fs::temp_directory_path() / "pawl_bare_XXXXXX";
  REQUIRE(::mkdtemp(path.data()) != nullptr);
  for (const std::string& name : names) {
    REQUIRE(fs::create_directory(path + "/" + name));
    REQUIRE(::chmod((path + "/" + name).c_str(), mode) == 0);
  }
  const Descriptor directory(::open(path.c_str(), O_PATH | O_DIRECTORY));
  const bool is_bare = is_bare_repository(directory.number());
  fs::remove_all(path);
  return is_bare;
}

TEST_CASE("what git takes for a repository") {
  CHECK(is_bare_with({"HEAD", "objects", "refs"}));
  CHECK(is_bare_with({"HEAD", "commondir"}));
  CHECK_FALSE(is_bare_with({}));
  CHECK_FALSE(is_bare_with({"HEAD", "objects"}));
  CHECK_FALSE(is_bare_with({"HEAD", "refs"}));
  CHECK_FALSE(is_bare_with({"objects", "refs", "commondir"}));
}

TEST_CASE("the mode of its parts does not matter to git") {
  CHECK(is_bare_with({"HEAD", "objects", "refs"}, 01555));
  CHECK(is_bare_with({"HEAD", "commondir"}, 0));
}

}  // namespace
}  // namespace pawl
