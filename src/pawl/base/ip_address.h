// An address of the Internet, version 4 or 6, and the one spelling of each that is taken for one.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl {

struct IpAddress {
  enum class Family : std::uint8_t { v4, v6 };
  static constexpr std::size_t kV4Bytes = 4;
  static constexpr std::size_t kV6Bytes = 16;

  Family family = Family::v4;
  std::array<std::uint8_t, kV6Bytes> bytes{};  // in network order; version 4 has the first four

  static IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d);
  unsigned bits() const { return family == Family::v4 ? 32 : 128; }

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

// Four decimal numbers without leading zeros: no octal, no hexadecimal, no short forms, which other
// readers take for something else.
std::optional<IpAddress> parse_ipv4(std::string_view text);
// RFC 4291, section 2.2; without brackets and without a zone.
std::optional<IpAddress> parse_ipv6(std::string_view text);
std::optional<IpAddress> parse_ip(std::string_view text);

// RFC 5952; without brackets.
std::string to_text(const IpAddress& address);

// All addresses whose first `prefix` bits are those of `network`.
struct IpRange {
  IpAddress network;
  unsigned prefix = 0;

  bool contains(const IpAddress& address) const;
  friend bool operator==(const IpRange&, const IpRange&) = default;
};

// "10.0.0.0/8", "::1/128", or one address. Bits behind the prefix must be zero: 10.1.2.3/8 is a
// mistake more often than it is meant.
std::optional<IpRange> parse_ip_range(std::string_view text);
std::string to_text(const IpRange& range);

}  // namespace pawl
