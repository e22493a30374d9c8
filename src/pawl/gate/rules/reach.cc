#include "pawl/gate/rules/reach.h"

#include <algorithm>
#include <vector>

namespace pawl {
namespace {

constexpr std::size_t kHostBytesMax = 253;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > 0x20 && c < 0x7F && c != '\\'; });
}

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Names, IPv4 and bracketed IPv6 addresses.
bool is_host(std::string_view host) {
  if (host.empty() || host.size() > kHostBytesMax) return false;
  if (host.front() == '[') {
    return host.back() == ']' && host.find_first_not_of("0123456789abcdef:.", 1) == host.size() - 1;
  }
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '.' || c == '_'; });
}

bool is_port(std::string_view text) {
  return text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string without_final_dot(std::string host) {
  if (host.size() > 1 && host.back() == '.') host.pop_back();
  return host;
}

}  // namespace

std::optional<std::string> scheme_of_url(std::string_view url) {
  const std::size_t end = url.find("://");
  if (end == std::string_view::npos || end == 0 || !is_plain_ascii(url)) return std::nullopt;
  std::string scheme = lowered(url.substr(0, end));
  const bool fine = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return is_alnum(c) || c == '+' || c == '-' || c == '.';
  });
  if (!fine) return std::nullopt;
  return scheme;
}

std::optional<std::string> host_of_url(std::string_view url) {
  if (!scheme_of_url(url)) return std::nullopt;
  std::string_view rest = url.substr(url.find("://") + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (rest.find('@') != std::string_view::npos) return std::nullopt;
  const std::size_t colon =
      rest.find(':', rest.starts_with('[') ? std::min(rest.find(']'), rest.size()) : 0);
  if (colon != std::string_view::npos && !is_port(rest.substr(colon + 1))) return std::nullopt;
  std::string host = lowered(rest.substr(0, colon));
  if (!is_host(host)) return std::nullopt;
  return without_final_dot(std::move(host));
}

bool host_is_in(std::string_view host, std::span<const std::string> patterns) {
  const std::string wanted = without_final_dot(lowered(host));
  return std::any_of(patterns.begin(), patterns.end(), [&wanted](const std::string& raw) {
    const std::string pattern = without_final_dot(lowered(raw));
    if (pattern == "*") return true;
    if (!pattern.starts_with("*.")) return wanted == pattern;
    const std::string_view suffix = std::string_view(pattern).substr(1);
    return wanted.size() > suffix.size() && wanted.ends_with(suffix);
  });
}

std::optional<std::string> plain_path(std::string_view path) {
  const bool absolute = path.starts_with('/');
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    } else if (!absolute) {
      return std::nullopt;
    }
  }
  std::string plain = absolute ? "/" : "";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    plain += (i == 0 ? "" : "/") + std::string(parts[i]);
  }
  return plain.empty() ? "." : plain;
}

Match path_beneath(std::string_view path, std::string_view root) {
  if (path.empty() || path.front() == '~' || path.find('\0') != std::string_view::npos) {
    return Match::maybe;
  }
  const auto place = plain_path(path);
  const auto top = plain_path(root);
  if (!place || !top || place->starts_with('/') != top->starts_with('/')) return Match::maybe;
  if (*top == "/" || *top == "." || *place == *top) return Match::yes;
  return place->starts_with(*top + "/") ? Match::yes : Match::no;
}

}  // namespace pawl
