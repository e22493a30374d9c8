#include "pawl/filter/secrets/text_view.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

std::string decoded(std::string_view text) {
  return std::string(decoded_view(text).text());
}

}  // namespace

TEST_CASE("a plain view has no line ends and knows where its bytes were") {
  const TextView view = plain_view("\nab\r\n\ncd\n");
  CHECK(view.text() == "abcd");
  CHECK(view.in_source({0, 1}) == TextRange{1, 2});
  CHECK(view.in_source({1, 3}) == TextRange{2, 7});
  CHECK(view.in_source({3, 4}) == TextRange{7, 8});

  const TextView same = plain_view("abcd");
  CHECK(same.text() == "abcd");
  CHECK(same.in_source({1, 3}) == TextRange{1, 3});
  CHECK(plain_view("").text().empty());
}

TEST_CASE("a decoded view has neither percent encoding nor escapes") {
  CHECK(decoded("a%2Fb%2fc%25d%zz") == "a/b/c%d%zz");
  CHECK(decoded("%252F %25252F") == "/ /");
  CHECK(decoded(R"(a\/b \"c\" \\\"d\\\" \u0041\u00e9\u20AC)") == "a/b \"c\" \"d\" Aé€");
  CHECK(decoded(R"(\ud83d\ude00 \\ud83d\\ude00)") == "😀 😀");
  CHECK(decoded(R"(\x41 \uZZ \xZZ)") == "A uZZ xZZ");
  CHECK(decoded("a\\nb\\r\\nc\nd%0Ae") == "abcde");
  CHECK(decoded("%5Cu0041") == "A");
  CHECK(decoded("plain") == "plain");
}

TEST_CASE("a decoded view knows which bytes an escape was written in") {
  const TextView view = decoded_view(R"(x\u0041y%42\nz)");
  REQUIRE(view.text() == "xAyBz");
  CHECK(view.in_source({0, 1}) == TextRange{0, 1});
  CHECK(view.in_source({1, 2}) == TextRange{1, 7});
  CHECK(view.in_source({1, 4}) == TextRange{1, 11});
  CHECK(view.in_source({4, 5}) == TextRange{13, 14});
}

TEST_CASE("a view says where an escape begins that is not complete") {
  for (const char* const text : {R"(ab\)", R"(ab\\)", R"(ab\u)", R"(ab\u004)", R"(ab\x4)", "ab%",
                                 "ab%4", "ab%25", "ab%252", R"(ab\ud83d)", R"(ab\ud83d\ude0)"}) {
    CAPTURE(text);
    CHECK(decoded_view(text).unfinished() == 2);
  }
  for (const char* const text : {R"(ab\u0041)", "ab%41", R"(ab\/)", "ab"}) {
    CAPTURE(text);
    CHECK(decoded_view(text).unfinished() == std::string_view(text).size());
  }
}

TEST_CASE("whether there are escapes") {
  CHECK(has_escapes("a\\b"));
  CHECK(has_escapes("100%"));
  CHECK_FALSE(has_escapes("a\nb"));
}

}  // namespace pawl
