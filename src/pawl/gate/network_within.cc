#include "pawl/gate/network_within.h"

#include <algorithm>

#include "pawl/port/egress.h"

namespace pawl {
namespace {

using DomainRules = std::vector<EgressRule>;

// Every host of `inner` is one of `outer`'s. Ports are not a domain's matter.
bool covers(const EgressRule& outer, const EgressRule& inner) {
  if (outer.match == EgressRule::Match::everything) return true;
  if (inner.match == EgressRule::Match::everything) return false;
  if (outer.match == EgressRule::Match::exact) {
    return inner.match == EgressRule::Match::exact && inner.host == outer.host;
  }
  if (inner.match == EgressRule::Match::subdomains && inner.host == outer.host) return true;
  const auto host = parse_url_host(inner.host);
  EgressRule any_port = outer;
  any_port.ports = {EgressPorts::Kind::any, 0};
  return host && any_port.allows(*host, 0);
}

// What cannot be read names no host that could be reached.
DomainRules domain_rules_of(const std::vector<std::string>& texts) {
  DomainRules rules;
  for (const std::string& text : texts) {
    if (auto rule = parse_egress_rule(text)) rules.push_back(*std::move(rule));
  }
  return rules;
}

DomainRules within(const DomainRules& hosts, const DomainRules& domains) {
  DomainRules both;
  for (const EgressRule& host : hosts) {
    for (const EgressRule& domain : domains) {
      const bool inside = covers(domain, host);
      if (!inside && !covers(host, domain)) continue;
      EgressRule rule = inside ? host : domain;
      rule.ports = host.ports;
      if (std::find(both.begin(), both.end(), rule) == both.end()) both.push_back(std::move(rule));
    }
  }
  return both;
}

}  // namespace

NetworkPolicy network_within(NetworkPolicy network, const CharterPermissions& permissions) {
  std::vector<const Grants*> all;
  if (permissions.grants) all.push_back(&*permissions.grants);
  for (const OuterLimits& limits : permissions.outer) {
    if (limits.grants) all.push_back(&*limits.grants);
  }
  for (const Grants* grants : all) {
    if (!grants->allowed_domains || network.access == NetworkAccess::none) continue;
    const bool full = network.access == NetworkAccess::full;
    const DomainRules domains = domain_rules_of(*grants->allowed_domains);
    const auto everything = [](const EgressRule& rule) {
      return rule.match == EgressRule::Match::everything;
    };
    if (std::any_of(domains.begin(), domains.end(), everything)) continue;
    const DomainRules left =
        within(domain_rules_of(full ? std::vector<std::string>{"*:*"} : network.hosts), domains);
    network = {left.empty() ? NetworkAccess::none : NetworkAccess::limited, {}};
    for (const EgressRule& rule : left) network.hosts.push_back(to_text(rule));
  }
  return network;
}

}  // namespace pawl
