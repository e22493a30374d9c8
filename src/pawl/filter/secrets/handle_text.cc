#include "pawl/filter/secrets/handle_text.h"

#include <algorithm>

namespace pawl {
namespace {

constexpr std::string_view kBegin = "[[pawl-secret:";
constexpr std::string_view kEnd = "]]";
constexpr std::string_view kNot = "not-a-";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

std::string handle_name(std::string_view name) {
  std::string text(name.substr(0, kHandleNameBytesMax));
  std::replace_if(text.begin(), text.end(), [](char c) { return !is_name_character(c); }, '_');
  return text.empty() ? "secret" : text;
}

std::string handle_text(std::string_view name) {
  return std::string(kBegin) + std::string(name) + std::string(kEnd);
}

bool neutralise_handles(std::string& text) {
  std::size_t at = text.find(kBegin);
  if (at == std::string::npos) return false;
  std::string out;
  std::size_t from = 0;
  for (; at != std::string::npos; at = text.find(kBegin, from)) {
    out.append(text, from, at + 2 - from);
    out += kNot;
    from = at + 2;
  }
  out.append(text, from);
  text = std::move(out);
  return true;
}

}  // namespace pawl
