#include "pawl/base/utf8.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

const std::string kReplaced = "\xEF\xBF\xBD";

TEST_CASE("the limits of UTF-8 are where RFC 3629 puts them") {
  for (const char* text :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(text);
    CHECK(is_valid_utf8(text));
    CHECK(to_valid_utf8(text) == text);
  }
  for (const char* text : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
                           "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5", "\xFF",
                           "\xC2", "\xE1\x80", "\xF1\x80\x80"}) {
    CAPTURE(text);
    CHECK_FALSE(is_valid_utf8(text));
    CHECK(is_valid_utf8(to_valid_utf8(text)));
  }
  CHECK(is_valid_utf8(std::string_view("a\0b", 3)));
}

// The example of the Unicode standard, section 3.9, table 3-8.
TEST_CASE("a maximal invalid subpart becomes one replacement character") {
  CHECK(to_valid_utf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64") ==
        "a" + kReplaced + kReplaced + kReplaced + "b" + kReplaced + "c" + kReplaced + kReplaced +
            "d");
  CHECK(to_valid_utf8("\xED\xA0\x80") == kReplaced + kReplaced + kReplaced);
  CHECK(to_valid_utf8("\xF0\x9F\x98") == kReplaced);
}

TEST_CASE("code points are read and written back") {
  for (const char32_t code_point : {U'a', U'é', U'€', U'😀', char32_t{0x10FFFF}}) {
    std::string text;
    append_utf8(text, code_point);

    const Utf8Step step = first_utf8(text + "x");

    CHECK(step.valid);
    CHECK(step.code_point == code_point);
    CHECK(step.bytes == text.size());
  }
}

TEST_CASE("length is counted in code points") {
  CHECK(count_utf8("") == 0);
  CHECK(count_utf8("aé€😀") == 4);
  CHECK(count_utf8("a\xFF\xE2\x82") == 3);
}

}  // namespace
}  // namespace pawl
