// The host and the port of a URL: where a mistake connects to somebody else.
#include <algorithm>
#include <charconv>

#include "pawl/base/url.h"

namespace pawl {
namespace {

Error refused(std::string why) {
  return {ErrorCode::invalid_argument, std::move(why)};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_of_label(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Whether some reader could take a name with this last label for a number: "1", "0x7f", "0x".
bool looks_like_number(std::string_view label) {
  if (std::all_of(label.begin(), label.end(), is_digit)) return true;
  if (!label.starts_with("0x")) return false;
  label.remove_prefix(2);
  return std::all_of(label.begin(), label.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

Status check_label(std::string_view label) {
  if (label.empty()) return refused("an empty label in the host");
  if (label.size() > kHostLabelBytesMax) return refused("a label of the host is over 63 bytes");
  if (label.front() == '-' || label.back() == '-') {
    return refused("a label of the host begins or ends with a hyphen");
  }
  if (!std::all_of(label.begin(), label.end(), is_of_label)) {
    return refused(
        "the host has a character that no name has; write an international name in its xn-- form");
  }
  return ok();
}

Result<UrlHost> parse_name(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  if (name.empty()) return refused("there is no host");
  if (name.size() > kHostNameBytesMax) return refused("the host is over 253 bytes");
  std::string_view rest = name;
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    PAWL_CHECK(check_label(label));
    if (dot == std::string_view::npos) {
      if (looks_like_number(label)) {
        return refused("a number as host must be an address of four plain decimal numbers");
      }
      return UrlHost{std::move(name), std::nullopt};
    }
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace

Result<UrlHost> parse_url_host(std::string_view text) {
  if (text.size() > kHostNameBytesMax + 1) return refused("the host is over 253 bytes");
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return refused("a bracket of the host is not closed");
    const auto address = parse_ipv6(text.substr(1, text.size() - 2));
    if (!address) return refused("what is in brackets is not a plain IPv6 address");
    return UrlHost{to_text(*address), address};
  }
  if (const auto address = parse_ipv4(text)) return UrlHost{to_text(*address), address};
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(), lower);
  return parse_name(std::move(name));
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  constexpr std::size_t kDigitsMax = 5;
  constexpr unsigned kPortMax = 65'535;
  if (text.empty() || text.size() > kDigitsMax || text.front() == '0') return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  unsigned port = 0;
  std::from_chars(text.data(), text.data() + text.size(), port);
  if (port > kPortMax) return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

}  // namespace pawl
