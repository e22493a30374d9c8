#include "pawl/adapter/egress/address_class.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::egress {
namespace {

struct NamedRange {
  std::string_view range;
  std::string_view name;
};

// The IANA special-purpose registries, less what they call globally reachable and is, plus one
// address of the public space that only answers inside a cloud.
constexpr NamedRange kSpecialV4[] = {
    {"0.0.0.0/8", "this network"},
    {"10.0.0.0/8", "private"},
    {"100.64.0.0/10", "shared by carriers"},
    {"127.0.0.0/8", "loopback"},
    {"168.63.129.16", "the host of an Azure machine"},
    {"169.254.0.0/16", "link-local, cloud metadata"},
    {"172.16.0.0/12", "private"},
    {"192.0.0.0/24", "protocol assignments"},
    {"192.0.2.0/24", "documentation"},
    {"192.88.99.0/24", "6to4 relays"},
    {"192.168.0.0/16", "private"},
    {"198.18.0.0/15", "benchmarks"},
    {"198.51.100.0/24", "documentation"},
    {"203.0.113.0/24", "documentation"},
    {"224.0.0.0/4", "multicast"},
    {"240.0.0.0/4", "reserved, broadcast"},
};
constexpr NamedRange kSpecialV6[] = {
    {"::", "unspecified"},
    {"::1", "loopback"},
    {"::ffff:0:0:0/96", "translated IPv4"},
    {"64:ff9b:1::/48", "NAT64 of a local network"},
    {"100::/64", "discard"},
    {"2001::/23", "protocol assignments"},  // but for Teredo, which is unwrapped before
    {"2001:db8::/32", "documentation"},
    {"3fff::/20", "documentation"},
    {"5f00::/16", "segment routing"},
    {"fc00::/7", "private"},
    {"fe80::/10", "link-local"},
    {"fec0::/10", "site-local"},
    {"ff00::/8", "multicast"},
};
constexpr std::string_view kGlobalV6 = "2000::/3";

struct ParsedRange {
  IpRange range;
  std::string what;
};

template <std::size_t kCount>
std::vector<ParsedRange> parsed(const NamedRange (&table)[kCount]) {
  std::vector<ParsedRange> out;
  for (const NamedRange& row : table) {
    const auto range = parse_ip_range(row.range);
    PAWL_ASSERT(range.has_value());
    out.push_back({*range, std::string(row.name) + " (" + std::string(row.range) + ")"});
  }
  return out;
}

const ParsedRange* find(const std::vector<ParsedRange>& table, const IpAddress& address) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const ParsedRange& row) {
    return row.range.contains(address);
  });
  return found == table.end() ? nullptr : &*found;
}

enum class Bits : std::uint8_t { plain, inverted };
IpAddress v4_at(const IpAddress& address, std::size_t offset, Bits bits = Bits::plain) {
  const std::uint8_t mask = bits == Bits::inverted ? 0xff : 0;
  IpAddress out;
  for (std::size_t i = 0; i < IpAddress::kV4Bytes; ++i) {
    out.bytes[i] = static_cast<std::uint8_t>(address.bytes[offset + i] ^ mask);
  }
  return out;
}

// Where forms that carry an IPv4 address have it, in bytes. Teredo has two: the server, and the
// client with its bits inverted.
struct Wrapping {
  IpRange range;
  std::string_view name;
  std::size_t offset;
  Bits bits;
};
const std::vector<Wrapping>& wrappings() {
  static const std::vector<Wrapping> all = {
      {*parse_ip_range("::ffff:0:0/96"), "mapped", 12, Bits::plain},
      {*parse_ip_range("::/96"), "IPv4-compatible", 12, Bits::plain},
      {*parse_ip_range("64:ff9b::/96"), "NAT64", 12, Bits::plain},
      {*parse_ip_range("2002::/16"), "6to4", 2, Bits::plain},
      {*parse_ip_range("2001::/32"), "Teredo", 4, Bits::plain},
      {*parse_ip_range("2001::/32"), "Teredo", 12, Bits::inverted},
  };
  return all;
}

// RFC 5214: any prefix, and 0:5efe or 200:5efe before the IPv4 address.
bool is_isatap(const IpAddress& address) {
  const auto& bytes = address.bytes;
  return (bytes[8] & 0xfdU) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
}

AddressClass classify_v4(const IpAddress& address) {
  static const std::vector<ParsedRange> table = parsed(kSpecialV4);
  if (const ParsedRange* row = find(table, address)) {
    return {AddressClass::Kind::special, row->what};
  }
  return {AddressClass::Kind::global, ""};
}

// The class of what is inside, where something is: the first that is special.
std::optional<AddressClass> classify_wrapped(const IpAddress& address) {
  std::optional<AddressClass> out;
  const auto look = [&](std::string_view form, const IpAddress& inside) {
    if (out && out->kind == AddressClass::Kind::special) return;
    out = classify_v4(inside);
    if (out->kind == AddressClass::Kind::special) {
      out->what = std::string(form) + " " + to_text(inside) + ", " + out->what;
    }
  };
  for (const Wrapping& form : wrappings()) {
    if (form.range.contains(address)) look(form.name, v4_at(address, form.offset, form.bits));
  }
  return out;
}

AddressClass classify_v6(const IpAddress& address) {
  static const std::vector<ParsedRange> table = parsed(kSpecialV6);
  static const IpRange global = *parse_ip_range(kGlobalV6);
  const auto wrapped = classify_wrapped(address);
  const ParsedRange* const row = find(table, address);
  const bool itself = row != nullptr && row->range.prefix == address.bits();  // "::" and "::1"
  if (wrapped && !itself) return *wrapped;
  if (row != nullptr) return {AddressClass::Kind::special, row->what};
  if (!global.contains(address)) return {AddressClass::Kind::special, "not global unicast"};
  if (is_isatap(address)) {
    AddressClass inside = classify_v4(v4_at(address, 12));
    if (inside.kind == AddressClass::Kind::special) inside.what = "ISATAP, " + inside.what;
    return inside;
  }
  return {AddressClass::Kind::global, ""};
}

}  // namespace

AddressClass classify(const IpAddress& address) {
  return address.family == IpAddress::Family::v4 ? classify_v4(address) : classify_v6(address);
}

}  // namespace pawl::egress
