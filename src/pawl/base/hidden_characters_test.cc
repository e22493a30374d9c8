#include "pawl/base/hidden_characters.h"

#include <doctest/doctest.h>

#include "pawl/base/utf8.h"
#include "pawl/json.h"

namespace pawl {
namespace {

TEST_CASE("characters that are not seen") {
  for (const char32_t point :
       {0x80U,    0x9BU,    0xADU,    0x34FU,   0x378U,   0x61CU,   0x115FU,
        0x180EU,  0x200BU,  0x200DU,  0x2028U,  0x202EU,  0x2065U,  0x2069U,
        0xD800U,  0xE000U,  0xF8FFU,  0xFE0FU,  0xFEFFU,  0xFFF9U,  0xFFFFU,
        0x13430U, 0x1D173U, 0xE0001U, 0xE0041U, 0xE0100U, 0xF0000U, 0x10FFFDU}) {
    INFO(static_cast<unsigned>(point));
    CHECK(is_hidden_character(point));
  }
  for (const char32_t point : {0x20U, 0x41U, 0x7EU, 0xA0U, 0xE9U, 0x301U, 0x5D0U, 0x4E2DU, 0xAC00U,
                               0x1F600U, 0x20000U, 0xFFFDU, 0xFFFCU}) {
    INFO(static_cast<unsigned>(point));
    CHECK_FALSE(is_hidden_character(point));
  }
}

TEST_CASE("JSON keeps its value, and holds no hidden character") {
  std::string text = "\"plain \xC3\xA9 ";
  for (char32_t point = 0x7F; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    if (point == 0x7F || is_hidden_character(point)) append_utf8(text, point);
    if (point == 0x3FFFF) point = 0xDFFFF;  // Planes of nothing.
    if (point == 0xF00FF) point = 0x10FF00;
  }
  text += "\"";
  const std::string escaped = with_hidden_escaped(text);
  const auto before = parse_json(text);
  const auto after = parse_json(escaped);
  REQUIRE(before);
  REQUIRE(after);
  CHECK(before->string() == after->string());
  for (std::string_view rest = escaped; !rest.empty();) {
    const Utf8Step step = first_utf8(rest);
    REQUIRE_FALSE(is_hidden_character(step.code_point));
    rest.remove_prefix(step.bytes);
  }
  CHECK(with_hidden_escaped("\"\xE2\x80\xAE\"") == "\"\\u202e\"");
  CHECK(with_hidden_escaped("\"\xF3\xA0\x81\x81\"") == "\"\\udb40\\udc41\"");
}

}  // namespace
}  // namespace pawl
