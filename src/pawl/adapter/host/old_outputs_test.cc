#include "pawl/adapter/host/old_outputs.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "pawl/base/digest_name.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

void write(const std::string& path, std::size_t bytes, std::int64_t at_s) {
  std::ofstream(path) << std::string(bytes, 'x');
  const timespec times[2] = {{at_s, 0}, {at_s, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("only old files go, and nothing that a link leads to") {
  const TempDirectory place;
  const std::string outputs = place / "run";
  std::filesystem::create_directory(outputs);
  std::filesystem::create_directory(outputs + "/inner");
  write(outputs + "/old", 70, 1'000);
  write(outputs + "/young", 7, 3'000);
  write(place / "elsewhere", 9, 1'000);
  std::filesystem::create_symlink(place / "elsewhere", outputs + "/link");
  std::filesystem::create_directory_symlink(outputs, place / "other");

  const FileTally counted = old_outputs(outputs, 2'000'000, OldFiles::counted);
  CHECK(counted.files == 1);
  CHECK(counted.bytes == 70);
  CHECK(std::filesystem::exists(outputs + "/old"));
  CHECK(old_outputs(outputs, 1'000'000, OldFiles::removed).files == 0);
  CHECK(old_outputs(place / "other", 2'000'000, OldFiles::removed).files == 0);
  CHECK(old_outputs(place / "absent", 2'000'000, OldFiles::removed).files == 0);
  CHECK(std::filesystem::exists(outputs + "/old"));

  CHECK(old_outputs(outputs, 2'000'000, OldFiles::removed).files == 1);
  CHECK_FALSE(std::filesystem::exists(outputs + "/old"));
  for (const char* left : {"young", "link", "inner"}) {
    CHECK(std::filesystem::exists(std::filesystem::symlink_status(outputs + "/" + left)));
  }
  CHECK(std::filesystem::exists(std::filesystem::path(place / "elsewhere")));
}

TEST_CASE("an output that is not what its name says is damaged") {
  const TempDirectory place;
  const std::string sound = digest_name("output-", sha256("sound"));
  const std::string flipped = digest_name("output-", sha256("whole"));
  std::ofstream(place / sound) << "sound";
  std::ofstream(place / flipped) << "whale";
  std::ofstream(place / "output-Ab12Cd") << "of a call that was killed";
  const auto damaged = damaged_outputs(place.path());
  REQUIRE(damaged.size() == 1);
  CHECK(damaged[0] == place / flipped + ": it is damaged: its digest is another one");
  CHECK(damaged_outputs(place / "absent").empty());
}

}  // namespace pawl
