#include "pawl/surface/cli/escape.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("plain text, tabs and line breaks stay as they are") {
  CHECK(safe_text("a\tb\nçé 漢字 🙂") == "a\tb\nçé 漢字 🙂");
}

TEST_CASE("what a terminal would act on is shown instead") {
  CHECK(safe_text("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m");
  CHECK(safe_text("a\rb\bc\x07") == "a\\x0db\\x08c\\x07");
  CHECK(safe_text("\x7f") == "\\x7f");
  CHECK(safe_text("\u009b31m") == "\\u009b31m");  // C1: the one-character form of ESC [
}

TEST_CASE("characters that hide or reorder others are shown") {
  CHECK(safe_text("abc\u202ecba") == "abc\\u202ecba");
  CHECK(safe_text("\u2066x\u2069") == "\\u2066x\\u2069");
  CHECK(safe_text("\u200b\ufeff") == "\\u200b\\ufeff");
  CHECK(safe_text("\U000E0041") == "\\U000e0041");
}

TEST_CASE("bytes that are not UTF-8 become replacement characters") {
  CHECK(safe_text("a\xff\xfe") == "a\ufffd\ufffd");
  CHECK(safe_text("\x9b") == "\ufffd");
}

TEST_CASE("a line has no line breaks and no more columns than it may have") {
  CHECK(safe_line("a\nb\tc", 20) == "a\\nb\\tc");
  CHECK(safe_line("12345", 5) == "12345");
  CHECK(safe_line("123456", 5) == "1234…");
  CHECK(safe_line("123456", 1) == "…");
  CHECK(safe_line("123456", 0).empty());
  CHECK(safe_line("漢字漢字", 5) == "漢字…");
  CHECK(safe_line("\x1b\x1b\x1b", 6) == "\\x1b…");
  CHECK(safe_line("", 5).empty());
}

TEST_CASE("text is cut at a column, not inside a character") {
  CHECK(cut_columns("äöü", 2) == "äö");
  CHECK(cut_columns("漢字", 3) == "漢");
  CHECK(columns_of("a漢") == 3);
}

TEST_CASE("a wide line is broken between words, or where it must be") {
  using Lines = std::vector<std::string>;
  CHECK(broken_line("", 5) == Lines{""});
  CHECK(broken_line("12345", 5) == Lines{"12345"});
  CHECK(broken_line("one two three", 7) == Lines{"one two", "three"});
  CHECK(broken_line("1234567890", 4) == Lines{"1234", "5678", "90"});
  CHECK(broken_line(" 1234567", 4) == Lines{" 123", "4567"});
}

}  // namespace pawl
