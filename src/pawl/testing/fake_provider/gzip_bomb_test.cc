#include "pawl/testing/fake_provider/gzip_bomb.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

// Read by zlib 1.2.13: these bytes and a thousand zero bytes become 775 and 1,032,000 zeros.
// tests/cli/fake_provider_test.py decompresses what the program sends.
TEST_CASE("the opening is a gzip header and a deflate block in which zeros are matches") {
  const std::string expected(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
      "\xec\xc0\x81\x00\x00\x00\x00\x80\xa0\xfd\xa9\x17\xa9\x00",
      24);
  CHECK(gzip_bomb_opening() == expected);
}

}  // namespace
}  // namespace pawl::fake
