#include "pawl/base/link_free_path.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <cstdlib>
#include <filesystem>

namespace pawl {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a path is opened without links, and the link on the way is named") {
  std::string place = fs::temp_directory_path() / "pawl_link_free_XXXXXX";
  REQUIRE(::mkdtemp(place.data()) != nullptr);
  fs::create_directories(place + "/real/deep");
  fs::create_directory_symlink("real", place + "/link");
  CHECK(open_link_free(place + "/real/deep", O_PATH));
  for (const char* through : {"/link/deep", "/link"}) {
    const auto refused = open_link_free(place + through, O_PATH);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK(refused.error().message.find(place + "/link is a symbolic link") == 0);
  }
  const auto absent = open_link_free(place + "/absent", O_PATH);
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == ErrorCode::not_found);
  fs::remove_all(place);
}

}  // namespace
}  // namespace pawl
