#include "pawl/base/schema_uri.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace pawl::schema {
namespace {

// Takes the text up to the first of `stops` off the front.
std::string take_until(std::string_view& text, std::string_view stops) {
  const std::size_t end = std::min(text.find_first_of(stops), text.size());
  std::string taken(text.substr(0, end));
  text.remove_prefix(end);
  return taken;
}

bool is_scheme(std::string_view text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
  });
}

// RFC 3986, section 5.2.4, segment by segment.
std::string without_dot_segments(std::string_view path) {
  std::vector<std::string_view> kept;
  const bool absolute = !path.empty() && path[0] == '/';
  std::string_view rest = absolute ? path.substr(1) : path;
  bool ends_in_folder = false;
  for (bool more = !path.empty(); more;) {
    const std::size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    more = slash != std::string_view::npos;
    if (more) rest.remove_prefix(slash + 1);
    ends_in_folder = segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!ends_in_folder) kept.push_back(segment);
  }
  std::string out = absolute ? "/" : "";
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i != 0) out.push_back('/');
    out.append(kept[i]);
  }
  if (ends_in_folder && !kept.empty()) out.push_back('/');
  return out;
}

std::string merged_path(const Uri& base, std::string_view path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const std::size_t slash = base.path.rfind('/');
  if (slash == std::string::npos) return std::string(path);
  return base.path.substr(0, slash + 1) + std::string(path);
}

}  // namespace

Uri split_uri(std::string_view text) {
  Uri uri;
  const std::size_t colon = text.find_first_of(":/?#");
  if (colon != std::string_view::npos && text[colon] == ':' && is_scheme(text.substr(0, colon))) {
    uri.scheme = std::string(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    uri.authority = take_until(text, "/?#");
  }
  uri.path = take_until(text, "?#");
  if (text.starts_with('?')) {
    text.remove_prefix(1);
    uri.query = take_until(text, "#");
  }
  if (text.starts_with('#')) uri.fragment = std::string(text.substr(1));
  return uri;
}

std::string join_uri(const Uri& uri) {
  std::string out;
  if (uri.scheme) out += *uri.scheme + ":";
  if (uri.authority) out += "//" + *uri.authority;
  out += uri.path;
  if (uri.query) out += "?" + *uri.query;
  if (uri.fragment) out += "#" + *uri.fragment;
  return out;
}

Uri resolve_uri(std::string_view base_text, std::string_view reference) {
  Uri uri = split_uri(reference);
  if (uri.scheme || base_text.empty()) return uri;
  const Uri base = split_uri(base_text);
  uri.scheme = base.scheme;
  if (uri.authority) return uri;
  uri.authority = base.authority;
  if (uri.path.empty()) {
    uri.path = base.path;
    if (!uri.query) uri.query = base.query;
  } else if (uri.path[0] == '/') {
    uri.path = without_dot_segments(uri.path);
  } else {
    uri.path = without_dot_segments(merged_path(base, uri.path));
  }
  return uri;
}

std::string without_fragment(Uri uri) {
  uri.fragment.reset();
  return join_uri(uri);
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const char* const digits = text.data() + i + 1;
      if (std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
        out.push_back(static_cast<char>(byte));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

std::vector<std::string> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string escaped = take_until(pointer, "/");
    std::string token;
    for (std::size_t i = 0; i < escaped.size(); ++i) {
      const bool is_escape = escaped[i] == '~' && i + 1 < escaped.size();
      token.push_back(!is_escape ? escaped[i] : escaped[++i] == '1' ? '/' : '~');
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

void append_pointer_token(std::string& pointer, std::string_view token) {
  pointer.push_back('/');
  for (const char c : token) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer.push_back(c);
    }
  }
}

}  // namespace pawl::schema
