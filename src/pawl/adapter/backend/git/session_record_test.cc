#include "pawl/adapter/backend/git/session_record.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::git {
namespace {

TEST_CASE("the record of a session that lives is nobody's, that of a killed one is taken once") {
  const TempDirectory directory;
  const SessionRecord record{{"/a", "/with\nline"}, {"/a/b"}};
  {
    auto kept = KeptRecord::make(directory / "git");
    REQUIRE(kept);
    CHECK(kept->write({{"/longer than the other"}, {"/a", "/b", "/c"}}));
    CHECK(kept->write(record));
    CHECK(take_left_records(directory / "git").records.empty());
  }
  const auto left = take_left_records(directory / "git").records;
  REQUIRE(left.size() == 1);
  CHECK(left.front() == record);
  CHECK(take_left_records(directory / "git").records.empty());
}

TEST_CASE("a record with a bit that flipped is named, and never believed") {
  const TempDirectory directory;
  const auto size = [&]() -> std::uintmax_t {
    const auto kept = KeptRecord::make(directory / "git");
    REQUIRE(kept->write({{"/a"}, {"/a/b"}}));
    return std::filesystem::file_size(
        std::filesystem::directory_iterator(directory / "git/sessions")->path());
  }();
  CHECK(take_left_records(directory / "git").damaged.empty());
  for (std::uintmax_t at = 0; at < size; ++at) {
    REQUIRE(KeptRecord::make(directory / "git")->write({{"/a"}, {"/a/b"}}));
    const std::string path =
        std::filesystem::directory_iterator(directory / "git/sessions")->path().string();
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 2));
    file.close();
    const LeftRecords left = take_left_records(directory / "git");
    CHECK(left.records.empty());
    CHECK(left.damaged == std::vector<std::string>{path});
  }
}

TEST_CASE("a record that was never written has nothing to say") {
  const TempDirectory directory;
  REQUIRE(KeptRecord::make(directory / "git"));
  const LeftRecords left = take_left_records(directory / "git");
  CHECK(left.records.empty());
  CHECK(left.damaged.empty());
}

TEST_CASE("a session that ends leaves no record") {
  const TempDirectory directory;
  auto kept = KeptRecord::make(directory / "git");
  REQUIRE(kept);
  kept->remove();
  *kept = KeptRecord();
  CHECK(take_left_records(directory / "git").records.empty());
}

}  // namespace
}  // namespace pawl::git
