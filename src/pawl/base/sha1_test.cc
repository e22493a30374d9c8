#include "pawl/base/sha1.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("SHA-1 of the standard's example") {
  CHECK(sha1_bytes("abc") ==
        "\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e"
        "\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d");
  CHECK(sha1_bytes("").size() == 20);
}

}  // namespace pawl
