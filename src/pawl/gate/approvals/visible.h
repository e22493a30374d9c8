// Untrusted bytes as text that shows what is in them and moves no terminal: control characters,
// everything invisible, whatever changes direction or joins other characters is written as its
// code. Nothing is left out, and no two byte strings of the same form are shown alike.
//
// The command line's own escaper (surface/cli/escape.h) makes long texts readable; this one is for
// somebody who decides about exact bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// White space beyond this in one stretch can push what follows out of sight.
inline constexpr std::size_t kPaddingMax = 64;

enum class Oddity : std::uint8_t {
  control,       // C0, C1, bytes that are not UTF-8
  direction,     // bidirectional controls, and letters that are written from the right
  invisible,     // zero width, fillers, unusual spaces, variation selectors, tags, private use
  look_alike,    // full-width, mathematical and other letters, slashes and dots drawn as plain ones
  mixed_script,  // a word with letters of several alphabets
  padding,       // a long run of white space
};
inline constexpr std::size_t kOddityCount = 6;
// "text that changes its direction".
std::string_view describe(Oddity oddity);

class Oddities {
 public:
  void add(Oddity oddity) { bits_ |= 1U << static_cast<unsigned>(oddity); }
  bool has(Oddity oddity) const { return (bits_ & 1U << static_cast<unsigned>(oddity)) != 0; }
  bool none() const { return bits_ == 0; }
  void merge(Oddities other) { bits_ |= other.bits_; }
  std::vector<Oddity> list() const;

 private:
  std::uint32_t bits_ = 0;
};

Oddities find_oddities(std::string_view bytes);

// One character, or one byte that is none, as it is shown.
struct Glyph {
  std::string shown;
  std::size_t bytes = 0;    // of the source
  std::size_t columns = 0;  // an upper bound
  bool ends_line = false;
};
// `bytes` is not empty.
Glyph first_glyph(std::string_view bytes);

// On one line: "\x0a" where a line ended.
std::string visible_line(std::string_view bytes);
// In double quotes, so that spaces at the ends are seen; a quote in it is \x22.
std::string visible_word(std::string_view bytes);

}  // namespace pawl
