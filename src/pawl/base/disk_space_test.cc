#include "pawl/base/disk_space.h"

#include <doctest/doctest.h>

#include "tests/support/temp_directory.h"

namespace pawl {

TEST_CASE("what is free is part of the whole, and a disk that is used by tests is not full") {
  const TempDirectory directory;
  const auto space = disk_space_of(directory.path());
  REQUIRE(space);
  CHECK(space->free_bytes > 0);
  CHECK(space->free_bytes <= space->whole_bytes);
  CHECK_FALSE(is_disk_full(directory.path()));
}

TEST_CASE("what is not there cannot be asked") {
  const TempDirectory directory;
  CHECK_FALSE(disk_space_of(directory / "absent"));
  CHECK_FALSE(is_disk_full(directory / "absent"));
}

TEST_CASE("a file system without a size cannot be asked either") {
  CHECK_FALSE(disk_space_of("/proc"));
  CHECK_FALSE(is_disk_full("/proc"));
}

}  // namespace pawl
