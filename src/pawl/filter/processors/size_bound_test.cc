#include <doctest/doctest.h>

#include "pawl/filter/processors/processor_test_support.h"
#include "pawl/processor.h"

namespace pawl {

TEST_CASE("a text that is too long is blocked, or cut between two characters") {
  const auto blocking = make_size_bound(4, OnTooLong::block);
  const auto cutting = make_size_bound(4, OnTooLong::cut);
  CHECK(verdict_on(*blocking, "abcd") == "passed");
  CHECK(verdict_on(*blocking, "abcde") == "blocked: it has 5 bytes, and 4 are allowed");
  CHECK(verdict_on(*cutting, "abcde") == "abcd\n[cut: 1 more bytes]");
  CHECK(verdict_on(*cutting, "abc\xC3\xA9z") == "abc\n[cut: 3 more bytes]");
  CHECK(verdict_on(*cutting, "\x80\x80\x80\x80\x80") == "\n[cut: 5 more bytes]");
  CHECK(cutting->name() == "size");
}

}  // namespace pawl
