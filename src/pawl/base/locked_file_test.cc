#include "pawl/base/locked_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "pawl/base/files.h"
#include "tests/support/temp_directory.h"

namespace pawl {

TEST_CASE("a locked file is replaced as a whole, and only its owner reads it") {
  const TempDirectory directory;
  const std::string path = directory / "book";
  std::ofstream(path + ".new") << "of a process that was killed";

  REQUIRE(change_locked_file(path, [] { return std::string("one"); }));
  REQUIRE(change_locked_file(path, [&]() -> Result<std::string> {
    PAWL_TRY(const std::string before, read_file(path, 100));
    return before + " two";
  }));

  CHECK(*read_file(path, 100) == "one two");
  using std::filesystem::perms;
  CHECK(std::filesystem::status(path).permissions() == (perms::owner_read | perms::owner_write));
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_CASE("a locked file stays as it is when there is nothing to put there") {
  const TempDirectory directory;
  const std::string path = directory / "book";
  REQUIRE(change_locked_file(path, [] { return std::string("one"); }));

  const Status refused = change_locked_file(
      path, []() -> Result<std::string> { return Error{ErrorCode::conflict, "no"}; });

  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "no");
  CHECK(*read_file(path, 100) == "one");
  CHECK_FALSE(change_locked_file(directory / "none/book", [] { return std::string("one"); }));
}

}  // namespace pawl
