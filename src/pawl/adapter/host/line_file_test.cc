#include "pawl/adapter/host/line_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "pawl/base/files.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

std::vector<std::string> all_lines(LineSource& lines) {
  std::vector<std::string> found;
  while (true) {
    const auto line = lines.next(1U << 20U);
    REQUIRE(line);
    if (!*line) return found;
    found.push_back(**line);
  }
}

}  // namespace

TEST_CASE("lines come one after the other, also long ones, and can be read again") {
  const TempDirectory directory;
  const std::string path = directory / "lines";
  const std::vector<std::string> expected = {"a", "", std::string(200'000, 'x'), "b"};
  std::string text;
  for (const std::string& line : expected) text += line + "\n";
  REQUIRE(write_new_file(path, text));

  const auto lines = open_line_file(path);

  REQUIRE(lines);
  CHECK(all_lines(**lines) == expected);
  REQUIRE((*lines)->rewind());
  CHECK(all_lines(**lines) == expected);
}

TEST_CASE("lines that are too long or do not end are errors") {
  const TempDirectory directory;
  REQUIRE(write_new_file(directory / "long", std::string(100, 'x') + "\n"));
  REQUIRE(write_new_file(directory / "cut", "a\nb"));

  CHECK((*open_line_file(directory / "long"))->next(99).error().code == ErrorCode::limit_exceeded);
  const auto cut = open_line_file(directory / "cut");
  CHECK((*cut)->next(10));
  CHECK((*cut)->next(10).error().message.find("cut short") != std::string::npos);
  CHECK(open_line_file(directory / "absent").error().code == ErrorCode::not_found);
}

TEST_CASE("a new file is its owner's alone, is not written over, and is gone unless finished") {
  const TempDirectory directory;
  const std::string path = directory / "out";
  {
    const auto file = create_output_file(path);
    REQUIRE(file);
    CHECK((*file)->write("half"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  {
    const auto file = create_output_file(path);
    REQUIRE(file);
    CHECK((*file)->write("all "));
    CHECK((*file)->write("of it"));
    CHECK((*file)->finish());
  }
  CHECK(*read_file(path, 100) == "all of it");
  struct stat about{};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777U) == 0600U);
  CHECK(create_output_file(path).error().code == ErrorCode::conflict);
}

}  // namespace pawl
