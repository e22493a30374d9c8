#include "pawl/surface/cli/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pawl/base/hidden_characters.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array<Range, 7> kWide = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFF60},
                                         {0x1F300, 0x3FFFD}}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [point](const Range& range) {
    return point >= range.first && point <= range.last;
  });
}

std::size_t columns_of(char32_t point) {
  return is_in(kWide, point) ? 2 : 1;
}

enum class Breaks { kept, shown };

void append_safe(std::string& out, char32_t point, Breaks breaks) {
  if (point == '\n' || point == '\t') {
    if (breaks == Breaks::kept) {
      out.push_back(static_cast<char>(point));
    } else {
      out += point == '\n' ? "\\n" : "\\t";
    }
  } else if (point < 0x20 || point == 0x7F) {
    out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(point));
  } else if (is_hidden_character(point)) {
    const auto number = static_cast<std::uint32_t>(point);
    out += point > 0xFFFF ? fmt::format("\\U{:08x}", number) : fmt::format("\\u{:04x}", number);
  } else {
    append_utf8(out, point);
  }
}

}  // namespace

std::string safe_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = first_utf8(text);
    append_safe(out, step.code_point, Breaks::kept);
    text.remove_prefix(step.bytes);
  }
  return out;
}

std::string safe_line(std::string_view text, std::size_t columns_max) {
  if (columns_max == 0) return {};  // Not even the sign has a place.
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const Utf8Step step = first_utf8(text);
    std::string piece;
    append_safe(piece, step.code_point, Breaks::shown);
    const std::size_t columns = columns_of(piece);
    text.remove_prefix(step.bytes);
    // The last column is kept for the sign that something is missing.
    if (used + columns + (text.empty() ? 0 : 1) > columns_max) return out + "…";
    out += piece;
    used += columns;
  }
  return out;
}

std::size_t columns_of(std::string_view safe) {
  std::size_t columns = 0;
  while (!safe.empty()) {
    const Utf8Step step = first_utf8(safe);
    columns += columns_of(step.code_point);
    safe.remove_prefix(step.bytes);
  }
  return columns;
}

std::string_view cut_columns(std::string_view safe, std::size_t columns_max) {
  std::size_t bytes = 0;
  std::size_t columns = 0;
  while (bytes < safe.size()) {
    const Utf8Step step = first_utf8(safe.substr(bytes));
    columns += columns_of(step.code_point);
    if (columns > columns_max) break;
    bytes += step.bytes;
  }
  return safe.substr(0, bytes);
}

std::vector<std::string> broken_line(std::string_view safe, std::size_t columns_max) {
  std::vector<std::string> lines;
  while (columns_of(safe) > columns_max) {
    std::string_view part = cut_columns(safe, columns_max);
    const std::size_t space = safe.substr(0, part.size() + 1).rfind(' ');
    if (space != std::string_view::npos && space > 0) part = safe.substr(0, space);
    lines.emplace_back(part);
    safe.remove_prefix(std::min(safe.size(), std::max<std::size_t>(part.size(), 1)));
    safe.remove_prefix(std::min(safe.find_first_not_of(' '), safe.size()));
  }
  lines.emplace_back(safe);
  return lines;
}

}  // namespace pawl
