// Pieces of text that go into JSON, or come out of it, as they are: ASCII without quotes,
// backslashes and control characters. Looked at by words: most of most texts is plain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pawl {

inline constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
inline constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;

constexpr std::uint64_t all_bytes(char c) {
  return kOnes * static_cast<std::uint8_t>(c);
}

// The high bit of each byte that is zero, and perhaps of some behind the first.
constexpr std::uint64_t zero_bytes(std::uint64_t word) {
  return (word - kOnes) & ~word & kHighBits;
}

// Whether a word has a byte at which a plain piece ends.
constexpr std::uint64_t ends_piece(std::uint64_t word) {
  const std::uint64_t control = (word - kOnes * 0x20) & ~word;
  return ((control | word) & kHighBits) | zero_bytes(word ^ all_bytes('"')) |
         zero_bytes(word ^ all_bytes('\\'));
}

constexpr bool is_plain_ascii(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// The end of the plain piece that begins at `at`. DEL is plain: JSON allows it in a string.
inline const char* after_plain_ascii(const char* at, const char* end) {
  for (std::uint64_t word = 0; end - at >= std::ptrdiff_t{sizeof word}; at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    if (ends_piece(word) != 0) break;
  }
  while (at != end && is_plain_ascii(*at)) ++at;
  return at;
}

}  // namespace pawl
