#include "pawl/adapter/yaml/yaml_text.h"

namespace pawl {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

// The offset after the quote that closes the one at `at`, or npos.
std::size_t quoted_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view stops = quote == '"' ? "\"\\" : "'";
  while (true) {
    at = text.find_first_of(stops, at + 1);
    if (at == std::string_view::npos) return at;
    const bool doubled = quote == '\'' && text.substr(at).starts_with("''");
    if (text[at] != '\\' && !doubled) return at + 1;
    ++at;  // The character after a backslash, or the second of two quotes.
  }
}

bool begins_line_mark(std::string_view text, std::size_t at) {
  return at + 3 == text.size() || kBlanks.find(text[at + 3]) != std::string_view::npos;
}

}  // namespace

bool quote_is_closed(std::string_view text, std::size_t at) {
  if (at >= text.size() || !is_quote(text[at])) return true;
  const std::size_t end = quoted_end(text, at);
  if (end == std::string_view::npos) return false;
  constexpr std::string_view kAllowed = " \t\r\n,:]}";
  return end == text.size() || kAllowed.find(text[end]) != std::string_view::npos;
}

bool is_marked_as_key(std::string_view text, std::size_t at, std::string_view key) {
  if (at >= text.size()) return true;  // Nobody knows where it is.
  std::size_t end = at + key.size();
  if (is_quote(text[at])) {
    end = quoted_end(text, at);
  } else if (text.substr(at, key.size()) != key) {
    return true;  // Several lines, which only an explicit key has.
  }
  if (end == std::string_view::npos) return true;  // quote_is_closed() says that.
  const std::size_t after = text.find_first_not_of(" \t", end);
  if (after != std::string_view::npos && text[after] == ':') return true;
  const std::size_t before = text.substr(0, at).find_last_not_of(kBlanks);
  if (before == std::string_view::npos || text[before] != '?') return false;
  return before == 0 || kBlanks.find(text[before - 1]) != std::string_view::npos;
}

bool is_marked_as_document(std::string_view text, std::size_t at) {
  if (text.substr(at < text.size() ? at : text.size()).starts_with("---")) return true;
  const std::string_view before = text.substr(0, at);
  const std::size_t end_mark = before.rfind("\n...");
  return end_mark != std::string_view::npos && begins_line_mark(before, end_mark + 1);
}

}  // namespace pawl
