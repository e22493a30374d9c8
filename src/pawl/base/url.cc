#include "pawl/base/url.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pawl {
namespace {

struct SchemePort {
  std::string_view scheme;
  std::uint16_t port;
};
constexpr std::array<SchemePort, 4> kSchemePorts = {
    {{"http", 80}, {"https", 443}, {"ws", 80}, {"wss", 443}}};

Error refused(std::string why) {
  return {ErrorCode::invalid_argument, "URL refused: " + std::move(why)};
}

std::uint16_t port_of_scheme(std::string_view scheme) {
  for (const SchemePort& known : kSchemePorts) {
    if (known.scheme == scheme) return known.port;
  }
  return 0;
}

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// pchar of RFC 3986 but for "%", and "/" and "?".
bool is_of_path(char c) {
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=:@/?";
  return is_alnum(c) || kMarks.find(c) != std::string_view::npos;
}

std::string hex_of(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {kDigits[byte >> 4U], kDigits[byte & 0xfU]};
}

// The whole text at once, so that no later step meets what readers differ about.
Status check_characters(std::string_view text) {
  if (text.size() > kUrlTextBytesMax) return refused("it is over 8192 bytes");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f) {
      return refused("a space or control character (byte 0x" + hex_of(c) + "); escape it as %" +
                     hex_of(c) + " if it is meant");
    }
    if (c == '\\') return refused("a backslash, which readers of URLs disagree about");
    if (byte > 0x7f) {
      return refused("a byte outside ASCII; escape it with %, and write a host in its xn-- form");
    }
  }
  return ok();
}

Status check_path(std::string_view text, std::string_view what) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) {
        return refused("a % in the " + std::string(what) + " without two digits; write %25");
      }
      i += 2;
    } else if (!is_of_path(text[i])) {
      return refused("'" + std::string(1, text[i]) + "' in the " + std::string(what) +
                     "; write it as %" + hex_of(text[i]));
    }
  }
  return ok();
}

// RFC 3986, section 5.2.4; `path` begins with "/".
std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    const bool last = end == path.size();
    if (segment == "/..") {
      out.erase(std::min(out.rfind('/'), out.size()));
      if (last) out += '/';
    } else if (segment == "/.") {
      if (last) out += '/';
    } else {
      out += segment;
    }
    path.remove_prefix(end);
  }
  return out.empty() ? "/" : out;
}

Result<std::string> take_scheme(std::string_view& text, std::span<const std::string_view> schemes) {
  const std::size_t end = text.find("://");
  std::string scheme(text.substr(0, std::min(end, text.size())));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool known = std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
  if (end == std::string_view::npos || !known || port_of_scheme(scheme) == 0) {
    std::string list;
    for (const std::string_view one : schemes) {
      list += (list.empty() ? "" : " or ") + std::string(one) + "://";
    }
    return refused("it must begin with " + list);
  }
  text.remove_prefix(end + 3);
  return scheme;
}

Status read_authority(std::string_view text, Url& url) {
  if (text.find('@') != std::string_view::npos) {
    return refused("a user name or password before the host; use a header");
  }
  const std::size_t closing = text.rfind(']');
  const std::size_t colon = text.find(':', closing == std::string_view::npos ? 0 : closing);
  auto host = parse_url_host(text.substr(0, colon));
  if (!host) return refused(host.error().message);
  url.host = *std::move(host);
  if (colon == std::string_view::npos) {
    url.port = port_of_scheme(url.scheme);
    return ok();
  }
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return refused("the port is not a plain number from 1 to 65535");
  url.port = *port;
  return ok();
}

Status read_path(std::string_view text, Url& url) {
  if (text.starts_with('#')) {
    return refused("a fragment right behind the host; put a / between them");
  }
  const std::size_t hash = text.find('#');
  if (hash != std::string_view::npos) {
    PAWL_CHECK(check_path(text.substr(hash + 1), "fragment"));
    text = text.substr(0, hash);
  }
  PAWL_CHECK(check_path(text, "path or query"));
  const std::size_t mark = text.find('?');
  const std::string_view path = text.substr(0, mark);
  url.path = without_dots(path.empty() ? "/" : path);
  if (mark != std::string_view::npos) url.query = text.substr(mark);
  return ok();
}

// Where the scheme ends, if the reference has one: "mailto:x", "http://x".
std::size_t scheme_end(std::string_view reference) {
  const std::size_t colon = reference.find_first_of(":/?#");
  return colon != std::string_view::npos && reference[colon] == ':' ? colon : 0;
}

// Escapes, in what follows the authority, what servers leave raw.
std::string with_raw_escaped(std::string_view reference) {
  std::size_t path = 0;
  if (const std::size_t slashes = reference.find("//");
      slashes == 0 || (slashes != std::string_view::npos && slashes == scheme_end(reference) + 1)) {
    path = std::min(reference.find_first_of("/?#", slashes + 2), reference.size());
  }
  std::string out(reference.substr(0, path));
  for (const char c : reference.substr(path)) {
    constexpr std::string_view kLeftRaw = "\"<>[]^`{|}";
    const bool raw = static_cast<unsigned char>(c) > 0x7f || kLeftRaw.find(c) != std::string::npos;
    out += raw ? "%" + hex_of(c) : std::string(1, c);
  }
  return out;
}

// As an absolute URL, for parse_url().
std::string merged(const Url& base, std::string_view reference) {
  if (scheme_end(reference) > 0) return std::string(reference);
  if (reference.starts_with("//")) return base.scheme + ":" + std::string(reference);
  if (reference.starts_with('/')) return base.origin() + std::string(reference);
  if (reference.empty() || reference.starts_with('#')) return base.text() + std::string(reference);
  if (reference.starts_with('?')) return base.origin() + base.path + std::string(reference);
  return base.origin() + base.path.substr(0, base.path.rfind('/') + 1) + std::string(reference);
}

}  // namespace

std::string Url::authority() const {
  return origin().substr(scheme.size() + 3) +
         (port == port_of_scheme(scheme) ? ":" + std::to_string(port) : "");
}

std::string Url::origin() const {
  const bool v6 = host.address && host.address->family == IpAddress::Family::v6;
  std::string out = scheme + "://" + (v6 ? "[" + host.text + "]" : host.text);
  if (port != port_of_scheme(scheme)) out += ":" + std::to_string(port);
  return out;
}

std::string Url::text() const {
  return origin() + path + query;
}

std::string Url::shown() const {
  return origin() + path + (query.empty() ? "" : "?...");
}

Result<Url> parse_url(std::string_view text, std::span<const std::string_view> schemes) {
  PAWL_CHECK(check_characters(text));
  Url url;
  PAWL_TRY(url.scheme, take_scheme(text, schemes));
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  PAWL_CHECK(read_authority(text.substr(0, end), url));
  PAWL_CHECK(read_path(text.substr(end), url));
  return url;
}

Result<Url> resolve_reference(const Url& base, std::string_view reference,
                              std::span<const std::string_view> schemes) {
  if (reference.size() > kUrlTextBytesMax) return refused("it is over 8192 bytes");
  return parse_url(merged(base, with_raw_escaped(reference)), schemes);
}

}  // namespace pawl
