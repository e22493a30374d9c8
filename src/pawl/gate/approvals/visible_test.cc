#include "pawl/gate/approvals/visible.h"

#include <doctest/doctest.h>

#include <set>

#include "pawl/base/hidden_characters.h"
#include "pawl/base/rng.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

std::string utf8(char32_t point) {
  std::string text;
  append_utf8(text, point);
  return text;
}

TEST_CASE("sc-A10 terminal controls are shown, not obeyed") {
  CHECK(visible_line("a\x1b[2K\x1b[1A") == "a\\x1b[2K\\x1b[1A");
  CHECK(visible_line("\x1b]0;t\x07\x1b]52;c;x\x1b\\") == "\\x1b]0;t\\x07\\x1b]52;c;x\\x1b\\");
  CHECK(visible_line("a\rb\bc\nd\te\x7f") == "a\\x0db\\x08c\\x0ad\\x09e\\x7f");
  CHECK(visible_line("\x9b[8m") == "\\x9b[8m");         // a raw byte
  CHECK(visible_line("\xC2\x9b[8m") == "<U+009B>[8m");  // the character
  CHECK(visible_line(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(visible_line("\xF0\x9F\x98") == "\\xf0\\x9f\\x98");  // cut short
}

TEST_CASE("sc-A11 direction and invisible characters are shown as codes, with a warning") {
  for (const char32_t point : {0x202EU, 0x2066U, 0x2067U, 0x2068U, 0x2069U, 0x200EU, 0x200FU}) {
    CHECK(find_oddities("a" + utf8(point)).has(Oddity::direction));
  }
  std::vector<char32_t> points = {0xAD,   0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x3164, 0xA0,
                                  0x2003, 0x3000, 0x2800, 0x115F, 0x180E, 0xE000, 0xFE0F, 0xE0100};
  for (char32_t point = 0xE0000; point <= 0xE007F; ++point) points.push_back(point);
  for (const char32_t point : points) {
    CHECK(find_oddities(utf8(point)).has(Oddity::invisible));
    CHECK(visible_line(utf8(point)).starts_with("<U+"));
  }
  CHECK(visible_line("x\xE2\x80\xAEy") == "x<U+202E>y");
  CHECK(visible_line(utf8(0xE0041)) == "<U+E0041>");
}

TEST_CASE("of all characters, none that is hidden is shown as itself") {
  for (char32_t point = 0x80; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    if (!is_hidden_character(point)) continue;
    const std::string shown = visible_line(utf8(point));
    if (!shown.starts_with("<U+")) FAIL(static_cast<unsigned>(point));
    if (find_oddities(utf8(point)).none()) FAIL(static_cast<unsigned>(point));
  }
}

TEST_CASE("sc-A12 words of mixed alphabets") {
  CHECK(find_oddities("/et\xD1\x81/passwd").has(Oddity::mixed_script));
  CHECK(find_oddities("\xD0\xB5"
                      "cho")
            .has(Oddity::mixed_script));
  CHECK(find_oddities("\xCE\xB1"
                      "bc")
            .has(Oddity::mixed_script));
  CHECK(find_oddities("\xD0\xBF\xD1\x80\xD0\xB8 /etc").none());  // each word is of one
  CHECK(find_oddities("gr\xC3\xB6\xC3\x9F"
                      "er")
            .none());
  CHECK(find_oddities("\xEF\xBC\x9B").has(Oddity::look_alike));
  CHECK(find_oddities("plain text, 100% fine;\n\ttab").none());
  CHECK(find_oddities("a1\xD1\x81").has(Oddity::mixed_script));
}

TEST_CASE("sc-A12 words of one alphabet that are read as another's") {
  const std::string apple = utf8(0x430) + utf8(0x440) + utf8(0x440) + utf8(0x4CF) + utf8(0x435);
  CHECK(find_oddities("https://" + apple + ".com/").has(Oddity::look_alike));
  CHECK(find_oddities(apple).has(Oddity::look_alike));
  CHECK(find_oddities("/" + utf8(0x3BF) + "/x").has(Oddity::look_alike));
  CHECK(find_oddities(utf8(0x261) + "it status").has(Oddity::look_alike));  // a phonetic g
  CHECK(find_oddities("etc" + utf8(0x2215) + "passwd").has(Oddity::look_alike));
  CHECK(find_oddities("a" + utf8(0x37E) + " rm x").has(Oddity::look_alike));
  CHECK(find_oddities("x" + utf8(0x2024) + "sh").has(Oddity::look_alike));
  // Words that are what they look like.
  CHECK(find_oddities("caf\xC3\xA9 \xE2\x80\x94 \xE2\x80\x9Cquoted\xE2\x80\x9D").none());
  CHECK(find_oddities(utf8(0x434) + utf8(0x430) + ", " + utf8(0x4E2D) + utf8(0x6587)).none());
}

TEST_CASE("letters from the right are told of, and legible") {
  CHECK(find_oddities("rm " + utf8(0x5D0) + "/x").has(Oddity::direction));
  CHECK(find_oddities(utf8(0x627)).has(Oddity::direction));
  CHECK(visible_line(utf8(0x5D0)) == utf8(0x5D0));
}

TEST_CASE("long runs of white space") {
  CHECK(find_oddities(std::string(kPaddingMax, ' ')).none());
  CHECK(find_oddities(std::string(kPaddingMax + 1, ' ')).has(Oddity::padding));
  CHECK(find_oddities(std::string(kPaddingMax + 1, '\n')).has(Oddity::padding));
  CHECK(find_oddities("a\x1b").has(Oddity::control));
  CHECK(find_oddities("a\xff").has(Oddity::control));
  CHECK(find_oddities("a\r").has(Oddity::control));
}

TEST_CASE("text that imitates a code is told apart from the code") {
  CHECK(visible_line("\\x1b") == "\\x5cx1b");
  CHECK(visible_line("<U+202E>") == "\\x3cU+202E>");
  CHECK(visible_line("a\\n <b> \\xg") == "a\\n <b> \\xg");
}

TEST_CASE("no two texts are shown alike") {
  const std::vector<std::string> pieces = {
      "\\",           "x",  "1",   "b", "5", "c", "<", "U", "+", "\x1b", "2", "0", "E", ">",
      "\xE2\x80\xAE", "\"", "\x9b"};
  Rng rng(7);
  std::set<std::string> sources;
  std::set<std::string> lines;
  std::set<std::string> words;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::uint64_t left = rng.below(7); left > 0; --left) text += rng.pick(pieces);
    if (!sources.insert(text).second) continue;
    CHECK_MESSAGE(lines.insert(visible_line(text)).second, visible_line(text));
    CHECK_MESSAGE(words.insert(visible_word(text)).second, visible_word(text));
  }
}

TEST_CASE("words are quoted, so that their ends are seen") {
  CHECK(visible_word("git ") == "\"git \"");
  CHECK(visible_word("") == "\"\"");
  CHECK(visible_word("a\"b") == "\"a\\x22b\"");
}

TEST_CASE("every oddity has words") {
  for (std::size_t i = 0; i < kOddityCount; ++i) {
    CHECK(describe(static_cast<Oddity>(i)) != "");
  }
}

}  // namespace
}  // namespace pawl
