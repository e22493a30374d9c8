#include "pawl/adapter/journal_sqlite/spare_space.h"

#include <doctest/doctest.h>

#include "tests/support/temp_directory.h"

namespace pawl::sqlite {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

TEST_CASE("how much of a disk is spared") {
  CHECK(spared_bytes(0) == 0);
  CHECK(spared_bytes(8 * kMebibyte) == kMebibyte);
  CHECK(spared_bytes(128 * kMebibyte) == kSparedBytesMin);
  CHECK(spared_bytes(4000 * kMebibyte) == 100 * kMebibyte);
  CHECK(spared_bytes(std::uint64_t{1} << 50U) == kSparedBytesMax);
}

TEST_CASE("what a disk has beyond that") {
  const TempDirectory directory;
  CHECK_FALSE(has_space_beyond_spared(directory.path(), std::uint64_t{1} << 60U));
  CHECK(has_space_beyond_spared(directory / "absent", std::uint64_t{1} << 60U));
}

}  // namespace pawl::sqlite
