// URLs of servers, read strictly: one reading, from which both the check and the connection are
// made. What other readers understand in different ways is refused rather than repaired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pawl/base/ip_address.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kUrlTextBytesMax = 8U << 10U;
inline constexpr std::size_t kHostNameBytesMax = 253;
inline constexpr std::size_t kHostLabelBytesMax = 63;

// A name in lower case without its trailing dot, or an address.
struct UrlHost {
  std::string text;                  // of an IPv6 address: without brackets
  std::optional<IpAddress> address;  // empty: it is a name

  friend bool operator==(const UrlHost&, const UrlHost&) = default;
};

struct Url {
  std::string scheme;  // in lower case
  UrlHost host;
  std::uint16_t port = 0;  // the scheme's own where the text has none
  std::string path = "/";  // without "." and ".." as segments
  std::string query;       // with its "?"; empty: there is none

  // "host:port", with the brackets that IPv6 needs.
  std::string authority() const;
  // "https://host", with the port unless it is the scheme's own.
  std::string origin() const;
  // What to dial: the origin, path and query. The fragment is nobody's but the reader's.
  std::string text() const;
  // For messages and logs: queries may hold keys.
  std::string shown() const;

  friend bool operator==(const Url&, const Url&) = default;
};

// Schemes that have a port of their own: http, https, ws, wss.
inline constexpr std::string_view kHttpSchemes[] = {"http", "https"};

// Refuses user names and passwords, anything outside printable ASCII, backslashes, numbers that are
// not four plain decimals, zones, escapes in the host, empty, zero, padded or large ports, a
// fragment right behind the host, and schemes beyond `schemes`. The message names the remedy.
Result<Url> parse_url(std::string_view text,
                      std::span<const std::string_view> schemes = kHttpSchemes);

// The host of a URL by itself: "Example.com.", "127.0.0.1", "[::1]".
Result<UrlHost> parse_url_host(std::string_view text);
// 1 to 65535, without leading zeros.
std::optional<std::uint16_t> parse_port(std::string_view text);

// Where a Location header leads to from `base` (RFC 3986, section 5.2). What servers leave raw in
// paths and queries (UTF-8, quotes, braces) is escaped; the rest is as strict as parse_url().
Result<Url> resolve_reference(const Url& base, std::string_view reference,
                              std::span<const std::string_view> schemes = kHttpSchemes);

}  // namespace pawl
