#include "pawl/base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace pawl {
namespace {

constexpr std::size_t kTextBytesMax = INET6_ADDRSTRLEN;
constexpr unsigned kBitsOfByte = 8;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A decimal number as a person would write it.
std::optional<unsigned> canonical_number(std::string_view text, unsigned most) {
  constexpr std::size_t kDigitsMax = 5;
  if (text.empty() || text.size() > kDigitsMax || !std::all_of(text.begin(), text.end(), is_digit))
    return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value <= most ? std::optional(value) : std::nullopt;
}

bool is_of_ipv6(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

bool bit_of(const IpAddress& address, unsigned index) {
  const unsigned byte = address.bytes[index / kBitsOfByte];
  return (byte >> (kBitsOfByte - 1 - index % kBitsOfByte) & 1U) != 0;
}

}  // namespace

IpAddress IpAddress::v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  IpAddress address;
  address.bytes = {a, b, c, d};
  return address;
}

std::optional<IpAddress> parse_ipv4(std::string_view text) {
  constexpr unsigned kByteMax = 255;
  IpAddress address;
  for (std::size_t i = 0; i < IpAddress::kV4Bytes; ++i) {
    const std::size_t dot = text.find('.');
    const bool last = i + 1 == IpAddress::kV4Bytes;
    if (last != (dot == std::string_view::npos)) return std::nullopt;
    const auto number = canonical_number(text.substr(0, dot), kByteMax);
    if (!number) return std::nullopt;
    address.bytes[i] = static_cast<std::uint8_t>(*number);
    if (!last) text.remove_prefix(dot + 1);
  }
  return address;
}

std::optional<IpAddress> parse_ipv6(std::string_view text) {
  if (text.size() >= kTextBytesMax || !std::all_of(text.begin(), text.end(), is_of_ipv6))
    return std::nullopt;
  if (const std::size_t dot = text.find('.'); dot != std::string_view::npos) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || !parse_ipv4(text.substr(colon + 1))) return std::nullopt;
  }
  IpAddress address;
  address.family = IpAddress::Family::v6;
  const std::string terminated(text);
  if (::inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  return text.find(':') == std::string_view::npos ? parse_ipv4(text) : parse_ipv6(text);
}

std::string to_text(const IpAddress& address) {
  std::array<char, kTextBytesMax> text{};
  const int family = address.family == IpAddress::Family::v4 ? AF_INET : AF_INET6;
  ::inet_ntop(family, address.bytes.data(), text.data(), text.size());
  return text.data();
}

bool IpRange::contains(const IpAddress& address) const {
  if (address.family != network.family) return false;
  for (unsigned i = 0; i < prefix; ++i) {
    if (bit_of(address, i) != bit_of(network, i)) return false;
  }
  return true;
}

std::optional<IpRange> parse_ip_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto network = parse_ip(text.substr(0, slash));
  if (!network) return std::nullopt;
  IpRange range{*network, network->bits()};
  if (slash == std::string_view::npos) return range;
  const auto prefix = canonical_number(text.substr(slash + 1), network->bits());
  if (!prefix) return std::nullopt;
  range.prefix = *prefix;
  for (unsigned i = *prefix; i < network->bits(); ++i) {
    if (bit_of(*network, i)) return std::nullopt;
  }
  return range;
}

std::string to_text(const IpRange& range) {
  const std::string network = to_text(range.network);
  return range.prefix == range.network.bits() ? network
                                              : network + "/" + std::to_string(range.prefix);
}

}  // namespace pawl
