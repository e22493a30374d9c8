#include "pawl/adapter/backend/files/shown_name.h"

#include <doctest/doctest.h>

namespace pawl::backend {
namespace {

TEST_CASE("names show what would otherwise act on a terminal or a reader") {
  CHECK(shown_name("plain name.txt") == "plain name.txt");
  CHECK(shown_name("a\nb\tc") == "a\\nb\\tc");
  CHECK(shown_name("\x1b[2J") == "\\x1b[2J");
  CHECK(shown_name("\xe2\x80\xae"
                   "cod.exe") == "\\u202ecod.exe");
  CHECK(shown_name("\xc2\x9b") == "\\x9b");
  CHECK(shown_name("caf\xc3\xa9 \xff") == "caf\xc3\xa9 \\xff");
}

TEST_CASE("a cut is never inside a character") {
  CHECK(cut_utf8("caf\xc3\xa9", 5) == "caf\xc3\xa9");
  CHECK(cut_utf8("caf\xc3\xa9", 4) == "caf");
  CHECK(cut_utf8("abc", 0).empty());
}

}  // namespace
}  // namespace pawl::backend
