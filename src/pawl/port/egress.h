// Where this machine may connect to on behalf of a model: a policy, names that are resolved once,
// and a guard that vets both. Whoever dials connects to a vetted address and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/ip_address.h"
#include "pawl/base/url.h"
#include "pawl/loop.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kEgressRulesMax = 1'000;  // of a policy, and of its ranges
inline constexpr std::size_t kEgressAnswersMax = 64;   // addresses of one name

struct EgressPorts {
  enum class Kind : std::uint8_t { web, one, any };  // web: 80 and 443
  Kind kind = Kind::web;
  std::uint16_t port = 0;  // of Kind::one

  bool contains(std::uint16_t wanted) const;
  friend bool operator==(const EgressPorts&, const EgressPorts&) = default;
};

// "example.com", "*.example.com" (its subdomains, not itself), "*"; behind each ":8443" for one
// port or ":*" for any.
struct EgressRule {
  enum class Match : std::uint8_t { exact, subdomains, everything };
  Match match = Match::exact;
  std::string host;  // as in UrlHost; empty for everything
  EgressPorts ports;

  bool allows(const UrlHost& wanted, std::uint16_t port) const;
  friend bool operator==(const EgressRule&, const EgressRule&) = default;
};
Result<EgressRule> parse_egress_rule(std::string_view text);
std::string to_text(const EgressRule& rule);

// Addresses that are not of the public Internet and yet may be connected to: "10.1.0.0/16",
// "127.0.0.1:8080", "[fd00::/8]:443". Without a port: any.
struct EgressRange {
  IpRange range;
  std::optional<std::uint16_t> port;

  friend bool operator==(const EgressRange&, const EgressRange&) = default;
};
Result<EgressRange> parse_egress_range(std::string_view text);

// As it is made, it allows nothing.
struct EgressPolicy {
  std::vector<EgressRule> hosts;
  std::vector<EgressRange> private_ranges;  // an operator's, never a model's or a project's

  // One that names the host itself, if there is one; null: none allows it.
  const EgressRule* rule_for(const UrlHost& host, std::uint16_t port) const;
  bool allows_private(const IpAddress& address, std::uint16_t port) const;
};
// An error names the entry that is wrong.
Result<EgressPolicy> parse_egress_policy(const std::vector<std::string>& hosts,
                                         const std::vector<std::string>& private_ranges = {});
// "hosts allowed: a.test, *.b.test:8443", for whoever was refused.
std::string describe(const EgressPolicy& policy);

// Answers as the machine's resolver gives them, unvetted. Calls `done` once on the loop thread and
// never from inside; its Operation is as every Operation.
class Resolver {
 public:
  using Answer = Result<std::vector<IpAddress>>;
  virtual ~Resolver() = default;
  virtual std::unique_ptr<Operation> resolve(const std::string& name,
                                             std::function<void(Answer)> done) = 0;
};

struct EgressTarget {
  UrlHost host;
  std::uint16_t port = 0;
  std::string client = {};  // whoever asks, as the host calls them; the events have it
};

struct VettedTarget {
  UrlHost host;
  std::uint16_t port = 0;
  std::vector<IpAddress> addresses;  // at least one; every answer of the resolver was fit
};

// What was asked for and what came of it; one for each vet(), and one for each dial of a proxy.
struct EgressEvent {
  enum class Verdict : std::uint8_t { allowed, refused, unresolved };
  Verdict verdict = Verdict::refused;
  std::string target;  // host:port
  std::string detail;  // the addresses, or why not
  std::string client = {};
};
using EgressSink = std::function<void(const EgressEvent&)>;

class EgressGuard {
 public:
  using Answer = Result<VettedTarget>;
  virtual ~EgressGuard() = default;
  // Calls `done` once on the loop thread and never from inside. invalid_argument: the policy
  // refuses, and the message, worded for a model, says why and what is allowed. unavailable: the
  // name could not be resolved.
  virtual std::unique_ptr<Operation> vet(EgressTarget target, std::function<void(Answer)> done) = 0;
};

}  // namespace pawl
