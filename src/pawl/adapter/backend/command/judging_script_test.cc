#include "pawl/adapter/backend/command/judging_script.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

constexpr std::size_t kBytesMax = 1'024;

void write_program(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("a script that judges is read and sealed once; one that is not there is none") {
  const TempDirectory directory;
  write_program(directory / "check.sh", "#!/bin/sh\necho allow\n");
  std::ofstream(directory / "no-program") << "x";

  const auto script = seal_script(directory / "check.sh", kBytesMax);

  REQUIRE(script);
  CHECK(script->digest == sha256("#!/bin/sh\necho allow\n"));
  CHECK_FALSE(seal_script(directory / "none", kBytesMax));
  CHECK_FALSE(seal_script(directory / "no-program", kBytesMax));
}

TEST_CASE("a script that is too long to be sealed is none") {
  const TempDirectory directory;
  write_program(directory / "long.sh", std::string(kBytesMax + 1, '#'));
  CHECK_FALSE(seal_script(directory / "long.sh", kBytesMax));
}

}  // namespace pawl
