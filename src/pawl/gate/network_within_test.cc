#include "pawl/gate/network_within.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

using Hosts = std::vector<std::string>;

CharterPermissions granting(const Hosts& domains) {
  CharterPermissions permissions;
  permissions.grants = Grants{PermissionBits::all()};
  permissions.grants->allowed_domains = domains;
  return permissions;
}

const NetworkPolicy kFull{NetworkAccess::full, {}};

TEST_CASE("without a list of domains, or with all of them, a network is as it was") {
  CHECK(network_within(kFull, {}) == kFull);
  CHECK(network_within(kFull, granting({"a.test", "*"})) == kFull);
  const NetworkPolicy some{NetworkAccess::limited, {"a.test:*", "*.b.test"}};
  CHECK(network_within(some, {}) == some);
  CHECK(network_within({}, granting({"a.test"})) == NetworkPolicy{});
}

TEST_CASE("a full network is that of the domains, and none where there are none") {
  CHECK(network_within(kFull, granting({"a.test", "*.B.test"})) ==
        NetworkPolicy{NetworkAccess::limited, {"a.test:*", "*.b.test:*"}});
  CHECK(network_within(kFull, granting({})) == NetworkPolicy{});
  CHECK(network_within(kFull, granting({"no host"})) == NetworkPolicy{});
}

TEST_CASE("of hosts those that are in the domains, with their own ports") {
  const NetworkPolicy some{
      NetworkAccess::limited,
      {"a.test", "x.b.test:81", "*.b.test", "c.test", "*.d.test:*", "1.2.3.4"}};
  CHECK(
      network_within(some, granting({"a.test", "*.b.test", "y.d.test", "*.z.d.test", "1.2.3.4"})) ==
      NetworkPolicy{
          NetworkAccess::limited,
          {"a.test", "x.b.test:81", "*.b.test", "y.d.test:*", "*.z.d.test:*", "1.2.3.4"}});
  CHECK(network_within(some, granting({"b.test", "d.test", "test"})) == NetworkPolicy{});
  CHECK(network_within({NetworkAccess::limited, {"*"}}, granting({"a.test"})) ==
        NetworkPolicy{NetworkAccess::limited, {"a.test"}});
}

TEST_CASE("every list counts, also those around the charter") {
  CharterPermissions permissions = granting({"*.b.test", "c.test"});
  permissions.outer.push_back({std::nullopt, granting({"x.b.test", "a.test"}).grants});
  CHECK(network_within(kFull, permissions) ==
        NetworkPolicy{NetworkAccess::limited, {"x.b.test:*"}});
}

}  // namespace
}  // namespace pawl
