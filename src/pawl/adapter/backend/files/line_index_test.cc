#include "pawl/adapter/backend/files/line_index.h"

#include <doctest/doctest.h>

namespace pawl::backend {
namespace {

TEST_CASE("lines are found by number and by byte") {
  const LineIndex lines("one\n\nthree\r\nlast");
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "one");
  CHECK(lines[1].empty());
  CHECK(lines[2] == "three\r");
  CHECK(lines[3] == "last");
  CHECK(lines.line_at(0) == 0);
  CHECK(lines.line_at(3) == 0);
  CHECK(lines.line_at(4) == 1);
  CHECK(lines.line_at(5) == 2);
  CHECK(lines.line_at(999) == 3);
}

TEST_CASE("a line feed at the end begins no line") {
  CHECK(LineIndex("").size() == 0);
  CHECK(LineIndex("\n").size() == 1);
  CHECK(LineIndex("a\n").size() == 1);
  CHECK(LineIndex("").line_at(0) == 0);
}

}  // namespace
}  // namespace pawl::backend
