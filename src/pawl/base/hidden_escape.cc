#include <array>
#include <cstdint>

#include "pawl/base/hidden_characters.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

constexpr char32_t kFirstBeyondPlane = 0x10000;
constexpr char32_t kHighSurrogates = 0xD800;
constexpr char32_t kLowSurrogates = 0xDC00;

void append_unit(std::string& out, char32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 0xFU];
}

void append_escaped(std::string& out, char32_t point) {
  if (point < kFirstBeyondPlane) return append_unit(out, point);
  const char32_t rest = point - kFirstBeyondPlane;
  append_unit(out, kHighSurrogates + (rest >> 10U));
  append_unit(out, kLowSurrogates + (rest & 0x3FFU));
}

}  // namespace

std::string with_hidden_escaped(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const auto byte = static_cast<unsigned char>(json.front());
    if (byte < 0x7F) {
      out += json.front();
      json.remove_prefix(1);
      continue;
    }
    const Utf8Step step = first_utf8(json);
    const bool hidden = step.code_point == 0x7F || is_hidden_character(step.code_point);
    if (step.valid && hidden) {
      append_escaped(out, step.code_point);
    } else {
      out += json.substr(0, step.bytes);
    }
    json.remove_prefix(step.bytes);
  }
  return out;
}

}  // namespace pawl
