#include "pawl/gate/approvals/visible.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "pawl/base/hidden_characters.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array<Range, 4> kDirection = {
    {{0x61C, 0x61C}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}}};

// Beside is_hidden_character(): spaces that are not the space, combining marks, and drawings of
// nothing.
constexpr std::array<Range, 19> kInvisible = {{{0xA0, 0xA0},
                                               {0x300, 0x36F},
                                               {0x483, 0x489},
                                               {0x1680, 0x1680},
                                               {0x1AB0, 0x1AFF},
                                               {0x1DC0, 0x1DFF},
                                               {0x2000, 0x200A},
                                               {0x202F, 0x202F},
                                               {0x205F, 0x205F},
                                               {0x20D0, 0x20FF},
                                               {0x2800, 0x2800},
                                               {0x3000, 0x3000},
                                               {0xFE20, 0xFE2F},
                                               {0xFFFC, 0xFFFC},
                                               {0x16FE4, 0x16FE4},
                                               {0x1D159, 0x1D159},
                                               {0x1D165, 0x1D182},
                                               {0x1D185, 0x1D18B},
                                               {0x1D1AA, 0x1D1AD}}};

// Full-width and mathematical letters, phonetic ones, small capitals, letters in circles, numerals,
// and what is taken for a slash, a dot, a colon or a semicolon. Not dashes and quotation marks,
// which ordinary texts are full of.
constexpr std::array<Range, 29> kLookAlike = {
    {{0x131, 0x131},   {0x17F, 0x17F},   {0x1C0, 0x1C3},     {0x250, 0x2FF},    {0x37E, 0x37E},
     {0x387, 0x387},   {0x1D00, 0x1DBF}, {0x2024, 0x2024},   {0x2044, 0x2044},  {0x2070, 0x209F},
     {0x2100, 0x2115}, {0x2118, 0x211D}, {0x2124, 0x2149},   {0x2160, 0x2188},  {0x2212, 0x2212},
     {0x2215, 0x2217}, {0x2223, 0x2223}, {0x2236, 0x2236},   {0x223C, 0x223C},  {0x2460, 0x24FF},
     {0x27CB, 0x27CD}, {0x29F5, 0x29F9}, {0x2C60, 0x2C7F},   {0xA720, 0xA7FF},  {0xAB30, 0xAB6F},
     {0xFE50, 0xFE6B}, {0xFF01, 0xFF5E}, {0x1D400, 0x1D7FF}, {0x1F100, 0x1F1FF}}};

// Letters that are written from the right: a terminal may change the order of what is around them.
constexpr std::array<Range, 6> kFromTheRight = {{{0x590, 0x8FF},
                                                 {0xFB1D, 0xFDCF},
                                                 {0xFDF0, 0xFDFF},
                                                 {0xFE70, 0xFEFC},
                                                 {0x10800, 0x10FFF},
                                                 {0x1E800, 0x1EFFF}}};

// Greek and Cyrillic letters, and a few of their neighbours, that are drawn as Latin ones. A word
// of nothing else is a Latin word to whoever reads it.
constexpr std::u32string_view kDrawnAsLatin =
    U"\u0391\u0392\u0395\u0396\u0397\u0399\u039A\u039C\u039D\u039F\u03A1\u03A4\u03A5\u03A7"
    U"\u03B1\u03B9\u03BA\u03BD\u03BF\u03C1\u03C3\u03C5\u03F2\u03F3"
    U"\u0405\u0406\u0408\u0410\u0412\u0415\u041A\u041C\u041D\u041E\u0420\u0421\u0422\u0423"
    U"\u0425\u0430\u0435\u043A\u043E\u043F\u0440\u0441\u0443\u0445\u0433\u0455\u0456\u0458"
    U"\u0474\u0475\u04AE\u04AF\u04BA\u04BB\u04C0\u04CF\u0501\u051A\u051B\u051C\u051D"
    U"\u0555\u0561\u0570\u0578\u057D\u0581\u0585";

// The alphabets whose letters are taken for each other's.
struct Alphabet {
  unsigned number;
  Range range;
};
constexpr std::array<Alphabet, 15> kAlphabets = {{{0, {'A', 'Z'}},
                                                  {0, {'a', 'z'}},
                                                  {0, {0xC0, 0x24F}},
                                                  {0, {0x1E00, 0x1EFF}},
                                                  {1, {0x370, 0x3FF}},
                                                  {1, {0x1F00, 0x1FFF}},
                                                  {2, {0x400, 0x52F}},
                                                  {2, {0x1C80, 0x1C8F}},
                                                  {2, {0xA640, 0xA69F}},
                                                  {3, {0x530, 0x58F}},
                                                  {4, {0x13A0, 0x13FF}},
                                                  {4, {0xAB70, 0xABBF}},
                                                  {5, {0xFF21, 0xFF5A}},
                                                  {6, {0x1D400, 0x1D7FF}},
                                                  {7, {0x590, 0x5FF}}}};

bool is_in(std::span<const Range> ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [point](const Range& range) {
    return point >= range.first && point <= range.last;
  });
}

bool is_unseen(char32_t point) {
  return is_hidden_character(point) || is_in(kInvisible, point);
}

bool is_c0(char32_t point) {
  return point < 0x20 || point == 0x7F;
}

bool is_c1(char32_t point) {
  return point >= 0x80 && point <= 0x9F;
}

unsigned alphabet_bit(char32_t point) {
  for (const Alphabet& one : kAlphabets) {
    if (point >= one.range.first && point <= one.range.last) return 1U << one.number;
  }
  return 0;
}

bool is_white(char32_t point) {
  return point == ' ' || point == '\t' || point == '\n' || point == '\r';
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string hex_byte(char c) {
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

// Text that looks like one of our own codes.
bool imitates_code(std::string_view text) {
  if (text.starts_with("<U+")) return true;
  return text.size() >= 4 && text.starts_with("\\x") && is_hex(text[2]) && is_hex(text[3]);
}

// What one word and one stretch of white space have shown so far.
class OddityFinder {
 public:
  void add(char32_t point) {
    const bool plain_control = point == '\n' || point == '\t';
    if ((is_c0(point) && !plain_control) || is_c1(point)) found.add(Oddity::control);
    if (point >= 0x80) add_beyond_ascii(point);
    const unsigned alphabet = alphabet_bit(point);
    // A word ends at anything in ASCII that is neither a letter nor a digit.
    const bool inside = alphabet != 0 || point >= 0x80 || (point >= '0' && point <= '9');
    if (!inside) end_word();
    if (inside) alphabets_ |= alphabet;
    if (inside && alphabet != 0 && kDrawnAsLatin.find(point) == std::u32string_view::npos) {
      drawn_ = Drawn::as_itself;
    }
    if ((alphabets_ & (alphabets_ - 1)) != 0) found.add(Oddity::mixed_script);
    white_ = is_white(point) ? white_ + 1 : 0;
    if (white_ > kPaddingMax) found.add(Oddity::padding);
  }
  void end_word() {
    if (alphabets_ != 0 && drawn_ == Drawn::as_latin) found.add(Oddity::look_alike);
    alphabets_ = 0;
    drawn_ = Drawn::as_latin;
  }

  Oddities found;

 private:
  void add_beyond_ascii(char32_t point) {
    if (is_in(kDirection, point) || is_in(kFromTheRight, point)) found.add(Oddity::direction);
    if (!is_c1(point) && !is_in(kDirection, point) && is_unseen(point)) {
      found.add(Oddity::invisible);
    }
    if (is_in(kLookAlike, point)) found.add(Oddity::look_alike);
  }

  enum class Drawn : std::uint8_t { as_latin, as_itself };

  unsigned alphabets_ = 0;
  Drawn drawn_ = Drawn::as_latin;  // every letter of the word so far, though none is
  std::size_t white_ = 0;
};

}  // namespace

std::string_view describe(Oddity oddity) {
  switch (oddity) {
    case Oddity::control:
      return "control characters, or bytes that are not UTF-8";
    case Oddity::direction:
      return "characters that change the direction of text";
    case Oddity::invisible:
      return "characters that are not seen";
    case Oddity::look_alike:
      return "characters that look like plain letters and are others";
    case Oddity::mixed_script:
      return "a word with letters of several alphabets";
    case Oddity::padding:
      break;
  }
  return "a long run of white space, which may hide what follows";
}

std::vector<Oddity> Oddities::list() const {
  std::vector<Oddity> all;
  for (std::size_t i = 0; i < kOddityCount; ++i) {
    if (has(static_cast<Oddity>(i))) all.push_back(static_cast<Oddity>(i));
  }
  return all;
}

Oddities find_oddities(std::string_view bytes) {
  OddityFinder finder;
  while (!bytes.empty()) {
    const Utf8Step step = first_utf8(bytes);
    if (step.valid) {
      finder.add(step.code_point);
    } else {
      finder.found.add(Oddity::control);
    }
    bytes.remove_prefix(step.bytes);
  }
  finder.end_word();
  return finder.found;
}

Glyph first_glyph(std::string_view bytes) {
  const Utf8Step step = first_utf8(bytes);
  const char32_t point = step.code_point;
  Glyph glyph;
  glyph.bytes = step.valid ? step.bytes : 1;
  glyph.ends_line = step.valid && point == '\n';
  if (!step.valid || is_c0(point) || imitates_code(bytes)) {
    glyph.shown = hex_byte(bytes.front());
  } else if (point >= 0x80 && is_unseen(point)) {
    glyph.shown = fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(point));
  } else {
    glyph.shown = std::string(bytes.substr(0, step.bytes));
    glyph.columns = step.bytes == 1 ? 1 : 2;
    return glyph;
  }
  glyph.columns = glyph.shown.size();
  return glyph;
}

std::string visible_line(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Glyph glyph = first_glyph(bytes);
    text += glyph.shown;
    bytes.remove_prefix(glyph.bytes);
  }
  return text;
}

std::string visible_word(std::string_view bytes) {
  std::string text = "\"";
  while (!bytes.empty()) {
    const Glyph glyph = first_glyph(bytes);
    text += glyph.shown == "\"" ? "\\x22" : glyph.shown;
    bytes.remove_prefix(glyph.bytes);
  }
  return text + "\"";
}

}  // namespace pawl
