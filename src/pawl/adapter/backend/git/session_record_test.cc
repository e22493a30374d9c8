#include "pawl/adapter/backend/git/session_record.h"

#include <doctest/doctest.h>

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
    CHECK(take_left_records(directory / "git").empty());
  }
  const auto left = take_left_records(directory / "git");
  REQUIRE(left.size() == 1);
  CHECK(left.front() == record);
  CHECK(take_left_records(directory / "git").empty());
}

TEST_CASE("a session that ends leaves no record") {
  const TempDirectory directory;
  auto kept = KeptRecord::make(directory / "git");
  REQUIRE(kept);
  kept->remove();
  *kept = KeptRecord();
  CHECK(take_left_records(directory / "git").empty());
}

}  // namespace
}  // namespace pawl::git
