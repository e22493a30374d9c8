// UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pawl {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// The first code point of a text. Where the bytes are not UTF-8, `code_point` is U+FFFD and `bytes`
// is the length of the maximal invalid subpart (Unicode 3.9, as WHATWG decoders do it), so that
// every reader replaces the same bytes by the same number of characters.
struct Utf8Step {
  std::size_t bytes = 0;
  char32_t code_point = kReplacementCharacter;
  bool valid = false;
};

// `text` is not empty.
Utf8Step first_utf8(std::string_view text);

bool is_valid_utf8(std::string_view text);
std::string to_valid_utf8(std::string_view text);
// The number of code points; an invalid subpart counts as one.
std::size_t count_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t code_point);

}  // namespace pawl
