#include "pawl/base/shell_word.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("a word survives a shell") {
  CHECK(shell_quoted("abc-1_2.x") == "abc-1_2.x");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  CHECK(shell_quoted("") == "''");
}

}  // namespace pawl
