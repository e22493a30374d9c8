#include "pawl/filter/secrets/text_view.h"

#include <algorithm>
#include <array>
#include <optional>

#include "pawl/base/utf8.h"
#include "pawl/result.h"

namespace pawl {
namespace {

bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

enum class Ending : std::uint8_t { whole, cut };  // cut: the text ends inside of it

// One byte behind percent encoding.
struct Item {
  char byte = 0;
  std::size_t end = 0;
  Ending ending = Ending::whole;
};

std::optional<char> hex_pair(std::string_view text, std::size_t at) {
  if (at + 2 > text.size()) return std::nullopt;
  const auto high = hex_digit(text[at]);
  const auto low = hex_digit(text[at + 1]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

// Whether the text ends where two digits could stand.
bool ends_in_digits(std::string_view text, std::size_t at) {
  return at >= text.size() || (at + 1 == text.size() && hex_digit(text[at]));
}

Item item_at(std::string_view text, std::size_t at) {
  if (text[at] != '%') return {text[at], at + 1};
  std::size_t digits = at + 1;
  while (text.substr(digits, 2) == "25" && hex_pair(text, digits + 2)) digits += 2;
  const auto byte = hex_pair(text, digits);
  if (!byte) return {'%', at + 1, ends_in_digits(text, digits) ? Ending::cut : Ending::whole};
  const bool may_go_on = *byte == '%' && ends_in_digits(text, digits + 2);
  return {*byte, digits + 2, may_go_on ? Ending::cut : Ending::whole};
}

// `count` hexadecimal digits.
struct Number {
  std::optional<char32_t> value;
  std::size_t end = 0;
  Ending ending = Ending::whole;
};

Number number_at(std::string_view text, std::size_t at, int count) {
  char32_t value = 0;
  for (int i = 0; i < count; ++i) {
    if (at >= text.size()) return {std::nullopt, at, Ending::cut};
    const Item item = item_at(text, at);
    const auto digit = hex_digit(item.byte);
    if (!digit) return {std::nullopt, at, item.ending};
    value = value * 16 + *digit;
    at = item.end;
  }
  return {value, at};
}

// What an escape stands for: no bytes for a line end.
struct Escape {
  std::string bytes;
  std::size_t end = 0;
  Ending ending = Ending::whole;
};

constexpr char32_t kHighSurrogate = 0xD800;
constexpr char32_t kLowSurrogate = 0xDC00;
constexpr char32_t kSurrogateEnd = 0xE000;

// Behind "\u": one UTF-16 unit, or two of them.
Escape unicode_at(std::string_view text, std::size_t at) {
  const Number first = number_at(text, at, 4);
  if (!first.value) return {"u", at, first.ending};
  Escape escape{"", first.end};
  char32_t point = *first.value;
  if (point >= kHighSurrogate && point < kLowSurrogate) {
    std::size_t next = first.end;
    while (next < text.size() && text[next] == '\\') ++next;
    if (next == text.size()) return {"", next, Ending::cut};
    const Number second = text[next] == 'u' ? number_at(text, next + 1, 4) : Number{};
    if (second.ending == Ending::cut) return {"", next, Ending::cut};
    const char32_t low = second.value.value_or(0);
    if (low >= kLowSurrogate && low < kSurrogateEnd) {
      point = 0x10000 + ((point - kHighSurrogate) << 10U) + (low - kLowSurrogate);
      escape.end = second.end;
    }
  }
  append_utf8(escape.bytes, point);
  return escape;
}

// Behind the backslashes.
Escape escape_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {"", at, Ending::cut};
  const Item item = item_at(text, at);
  if (item.byte == 'u') return unicode_at(text, item.end);
  if (item.byte == 'x') {
    const Number number = number_at(text, item.end, 2);
    if (!number.value) return {"x", item.end, number.ending};
    return {std::string(1, static_cast<char>(*number.value)), number.end};
  }
  if (item.byte == 'n' || item.byte == 'r') return {"", item.end, item.ending};
  return {std::string(1, item.byte), item.end, item.ending};
}

constexpr std::array<bool, 256> special_bytes() {
  std::array<bool, 256> special{};
  for (const char c : {'\\', '%', '\n', '\r'}) special[static_cast<unsigned char>(c)] = true;
  return special;
}

std::size_t end_of_plain(std::string_view text, std::size_t at) {
  static constexpr std::array<bool, 256> kSpecial = special_bytes();
  const auto is_special = [](char c) { return kSpecial[static_cast<unsigned char>(c)]; };
  return static_cast<std::size_t>(
      std::find_if(text.data() + at, text.data() + text.size(), is_special) - text.data());
}

}  // namespace

void TextView::add_plain(TextRange from) {
  if (from.begin == from.end) return;
  runs_.push_back({projected_.size(), from.begin, 0});
  projected_.append(source_.substr(from.begin, from.end - from.begin));
}

void TextView::add(char byte, TextRange from) {
  if (is_line_end(byte)) return;
  const std::size_t width = from.end - from.begin == 1 ? 0 : from.end - from.begin;
  const std::size_t at = projected_.size();
  const bool goes_on = !runs_.empty() && runs_.back().width == width &&
                       (width == 0 ? runs_.back().source + (at - runs_.back().at) == from.begin
                                   : runs_.back().source == from.begin);
  if (!goes_on) runs_.push_back({at, from.begin, width});
  projected_.push_back(byte);
}

TextView TextView::cut(std::size_t at) {
  unfinished_ = at;
  return std::move(*this);
}

const TextView::Run& TextView::run_of(std::size_t index) const {
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), index,
                       [](std::size_t wanted, const Run& run) { return wanted < run.at; });
  PAWL_ASSERT(after != runs_.begin());
  return *(after - 1);
}

TextRange TextView::in_source(TextRange range) const {
  PAWL_ASSERT(range.begin < range.end && range.end <= text().size());
  if (same_) return range;
  const Run& first = run_of(range.begin);
  const Run& last = run_of(range.end - 1);
  return {first.source + (first.width == 0 ? range.begin - first.at : 0),
          last.source + (last.width == 0 ? range.end - last.at : last.width)};
}

TextView plain_view(std::string_view source) {
  TextView view(source);
  view.unfinished_ = source.size();
  const bool has_returns = source.find('\r') != std::string_view::npos;
  if (!has_returns && source.find('\n') == std::string_view::npos) return view;
  view.same_ = false;
  view.projected_.reserve(source.size());
  for (std::size_t at = 0; at < source.size();) {
    std::size_t end = std::min(source.find('\n', at), source.size());
    if (has_returns) end = at + std::min(source.substr(at, end - at).find('\r'), end - at);
    view.add_plain({at, end});
    at = end + 1;
  }
  return view;
}

TextView decoded_view(std::string_view source) {
  TextView view(source);
  view.same_ = false;
  view.unfinished_ = source.size();
  view.projected_.reserve(source.size());
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t plain_end = end_of_plain(source, at);
    view.add_plain({at, plain_end});
    at = plain_end;
    if (at == source.size()) break;
    const Item item = item_at(source, at);
    if (item.byte != '\\') {
      if (item.ending == Ending::cut) return view.cut(at);
      view.add(item.byte, {at, item.end});
      at = item.end;
      continue;
    }
    std::size_t behind = item.end;
    while (behind < source.size() && item_at(source, behind).byte == '\\') {
      behind = item_at(source, behind).end;
    }
    const Escape escape = escape_at(source, behind);
    if (escape.ending == Ending::cut) return view.cut(at);
    for (const char byte : escape.bytes) view.add(byte, {at, escape.end});
    at = std::max(escape.end, behind);
  }
  return view;
}

bool has_escapes(std::string_view source) {
  return source.find('\\') != std::string_view::npos || source.find('%') != std::string_view::npos;
}

}  // namespace pawl
