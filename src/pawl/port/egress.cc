#include "pawl/port/egress.h"

#include <algorithm>

namespace pawl {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::size_t kEntryBytesMax = kHostNameBytesMax + 16;

Error bad_entry(std::string_view text, std::string_view why) {
  return {ErrorCode::invalid_argument,
          "\"" + std::string(text.substr(0, kEntryBytesMax)) + "\": " + std::string(why)};
}

// What stands before and behind the last colon that is not inside brackets.
struct Split {
  std::string_view host;
  std::optional<std::string_view> port;
};
Split split_port(std::string_view text) {
  const std::size_t closing = text.rfind(']');
  const std::size_t colon = text.find(':', closing == std::string_view::npos ? 0 : closing);
  if (colon == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<EgressPorts> ports_of(const std::optional<std::string_view>& text) {
  if (!text) return EgressPorts{};
  if (*text == "*") return EgressPorts{EgressPorts::Kind::any, 0};
  const auto port = parse_port(*text);
  if (!port) return std::nullopt;
  return EgressPorts{EgressPorts::Kind::one, *port};
}

std::string shown_host(const EgressRule& rule) {
  if (rule.match == EgressRule::Match::everything) return "*";
  if (rule.match == EgressRule::Match::subdomains) return "*." + rule.host;
  return rule.host.find(':') == std::string::npos ? rule.host : "[" + rule.host + "]";
}

}  // namespace

bool EgressPorts::contains(std::uint16_t wanted) const {
  switch (kind) {
    case Kind::web:
      return wanted == kHttpPort || wanted == kHttpsPort;
    case Kind::one:
      return wanted == port;
    case Kind::any:
      break;
  }
  return true;
}

bool EgressRule::allows(const UrlHost& wanted, std::uint16_t port) const {
  if (!ports.contains(port)) return false;
  switch (match) {
    case Match::exact:
      return wanted.text == host;
    case Match::subdomains:
      return !wanted.address && wanted.text.size() > host.size() + 1 &&
             wanted.text.ends_with(host) &&
             wanted.text[wanted.text.size() - host.size() - 1] == '.';
    case Match::everything:
      break;
  }
  return true;
}

Result<EgressRule> parse_egress_rule(std::string_view text) {
  if (text.size() > kEntryBytesMax) return bad_entry(text, "too long for a host");
  const auto [host, port] = split_port(text);
  const auto ports = ports_of(port);
  if (!ports) return bad_entry(text, "the port must be a number from 1 to 65535, or *");
  EgressRule rule;
  rule.ports = *ports;
  if (host == "*") {
    rule.match = EgressRule::Match::everything;
    return rule;
  }
  const bool subdomains = host.starts_with("*.");
  auto parsed = parse_url_host(subdomains ? host.substr(2) : host);
  if (!parsed) {
    return bad_entry(text, "write a host, *.host or * (" + parsed.error().message + ")");
  }
  if (subdomains && parsed->address) return bad_entry(text, "an address has no subdomains");
  rule.match = subdomains ? EgressRule::Match::subdomains : EgressRule::Match::exact;
  rule.host = std::move(parsed->text);
  return rule;
}

std::string to_text(const EgressRule& rule) {
  switch (rule.ports.kind) {
    case EgressPorts::Kind::web:
      break;
    case EgressPorts::Kind::one:
      return shown_host(rule) + ":" + std::to_string(rule.ports.port);
    case EgressPorts::Kind::any:
      return shown_host(rule) + ":*";
  }
  return shown_host(rule);
}

Result<EgressRange> parse_egress_range(std::string_view text) {
  constexpr std::string_view kRemedy =
      "write a range like 10.1.0.0/16, an address, or either with a port: 127.0.0.1:8080, "
      "[fd00::/8]:443";
  if (text.size() > kEntryBytesMax) return bad_entry(text, kRemedy);
  const bool bare_v6 = !text.starts_with('[') && std::count(text.begin(), text.end(), ':') > 1;
  auto [range, port] = bare_v6 ? Split{text, std::nullopt} : split_port(text);
  if (range.starts_with('[') && range.ends_with(']')) range = range.substr(1, range.size() - 2);
  const auto parsed = parse_ip_range(range);
  if (!parsed) return bad_entry(text, kRemedy);
  EgressRange out{*parsed, std::nullopt};
  if (!port) return out;
  out.port = parse_port(*port);
  if (!out.port) return bad_entry(text, kRemedy);
  return out;
}

const EgressRule* EgressPolicy::rule_for(const UrlHost& host, std::uint16_t port) const {
  const EgressRule* found = nullptr;
  for (const EgressRule& rule : hosts) {
    if (!rule.allows(host, port)) continue;
    if (rule.match == EgressRule::Match::exact) return &rule;
    found = &rule;
  }
  return found;
}

bool EgressPolicy::allows_private(const IpAddress& address, std::uint16_t port) const {
  return std::any_of(private_ranges.begin(), private_ranges.end(), [&](const EgressRange& range) {
    return range.range.contains(address) && range.port.value_or(port) == port;
  });
}

Result<EgressPolicy> parse_egress_policy(const std::vector<std::string>& hosts,
                                         const std::vector<std::string>& private_ranges) {
  if (hosts.size() > kEgressRulesMax || private_ranges.size() > kEgressRulesMax) {
    return Error{ErrorCode::limit_exceeded,
                 "more than " + std::to_string(kEgressRulesMax) + " entries in an egress list"};
  }
  EgressPolicy policy;
  for (const std::string& text : hosts) {
    PAWL_TRY(auto rule, parse_egress_rule(text));
    policy.hosts.push_back(std::move(rule));
  }
  for (const std::string& text : private_ranges) {
    PAWL_TRY(auto range, parse_egress_range(text));
    policy.private_ranges.push_back(range);
  }
  return policy;
}

std::string describe(const EgressPolicy& policy) {
  constexpr std::size_t kShownMax = 16;
  if (policy.hosts.empty()) return "no host is allowed";
  std::string out = "hosts allowed: ";
  for (std::size_t i = 0; i < std::min(policy.hosts.size(), kShownMax); ++i) {
    out += (i == 0 ? "" : ", ") + to_text(policy.hosts[i]);
  }
  if (policy.hosts.size() > kShownMax) {
    out += " and " + std::to_string(policy.hosts.size() - kShownMax) + " more";
  }
  return out + " (ports 80 and 443 where none is given)";
}

}  // namespace pawl
