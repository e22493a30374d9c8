#include "pawl/base/utf8.h"

#include <cstdint>
#include <cstring>

#include "pawl/result.h"

namespace pawl {
namespace {

// What a lead byte promises. The second byte has a narrower range than the others after E0, ED, F0
// and F4: that is what excludes overlong forms, surrogates and code points above U+10FFFF.
struct Lead {
  std::size_t length = 0;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xBF;
  char32_t bits = 0;
};

Lead read_lead(std::uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0, byte};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF, byte & 0x1FU};
  if (byte == 0xE0) return {3, 0xA0, 0xBF, byte & 0x0FU};
  if (byte == 0xED) return {3, 0x80, 0x9F, byte & 0x0FU};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF, byte & 0x0FU};
  if (byte == 0xF0) return {4, 0x90, 0xBF, byte & 0x07U};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF, byte & 0x07U};
  if (byte == 0xF4) return {4, 0x80, 0x8F, byte & 0x07U};
  return {};
}

// How many bytes in front are ASCII: most text is nothing else. They are looked at by words.
std::size_t ascii_bytes(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

Utf8Step first_utf8(std::string_view text) {
  PAWL_ASSERT(!text.empty());
  const Lead lead = read_lead(static_cast<std::uint8_t>(text[0]));
  if (lead.length == 0) return {1, kReplacementCharacter, false};
  char32_t code_point = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {i, kReplacementCharacter, false};
    const auto byte = static_cast<std::uint8_t>(text[i]);
    const std::uint8_t min = i == 1 ? lead.second_min : std::uint8_t{0x80};
    const std::uint8_t max = i == 1 ? lead.second_max : std::uint8_t{0xBF};
    if (byte < min || byte > max) return {i, kReplacementCharacter, false};
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  return {lead.length, code_point, true};
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_bytes(text));
    if (text.empty()) return true;
    const Utf8Step step = first_utf8(text);
    if (!step.valid) return false;
    text.remove_prefix(step.bytes);
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = first_utf8(text);
    if (step.valid) {
      out.append(text.substr(0, step.bytes));
    } else {
      append_utf8(out, kReplacementCharacter);
    }
    text.remove_prefix(step.bytes);
  }
  return out;
}

std::size_t count_utf8(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(first_utf8(text).bytes);
    ++count;
  }
  return count;
}

void append_utf8(std::string& out, char32_t code_point) {
  PAWL_ASSERT(code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF));
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0U | (code_point >> 6U));
    return put(0x80U | (code_point & 0x3FU));
  }
  if (code_point < 0x10000) {
    put(0xE0U | (code_point >> 12U));
  } else {
    put(0xF0U | (code_point >> 18U));
    put(0x80U | ((code_point >> 12U) & 0x3FU));
  }
  put(0x80U | ((code_point >> 6U) & 0x3FU));
  put(0x80U | (code_point & 0x3FU));
}

}  // namespace pawl
