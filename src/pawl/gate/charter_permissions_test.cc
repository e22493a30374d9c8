#include "pawl/gate/charter_permissions.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

TEST_CASE("approvals are a policy, or a policy with its terms") {
  const auto always = good_charter(charter_with("approvals: always_require\n")).permissions;
  REQUIRE(always.approvals);
  CHECK(std::holds_alternative<AlwaysRequireConfig>(always.approvals->policy));
  const auto terms = good_charter(charter_with("approvals: { policy: { threshold: { steps: 3 } }, "
                                               "expires: 1h, four_eyes: true }\n"))
                         .permissions;
  REQUIRE(terms.approvals);
  CHECK(std::get<ThresholdConfig>(terms.approvals->policy).steps == 3);
  CHECK(terms.expires_ms == 3'600'000);
  CHECK(terms.approvers == Approvers::others);
  CHECK(good_charter(charter_with("")).permissions.approvals == std::nullopt);
  CHECK(!charter_faults(charter_with("approvals: sometimes\n")).empty());
  CHECK(charter_faults(charter_with("approvals: { expires: 0 }\n")).find("expires") !=
        std::string::npos);
}

TEST_CASE("permissions grant bits, hosts and paths; without a list of bits all of them") {
  const auto granted =
      good_charter(charter_with("permissions: { grant: [network, env], trust: low, "
                                "domains: [example.org], paths: [/srv] }\n"))
          .permissions.grants;
  REQUIRE(granted);
  CHECK(granted->bits.has(Permission::network));
  CHECK_FALSE(granted->bits.has(Permission::fs_write));
  CHECK(granted->trust_min == TrustLevel::low);
  CHECK(granted->allowed_domains == std::vector<std::string>{"example.org"});
  CHECK(granted->allowed_paths == std::vector<std::string>{"/srv"});
  CHECK(good_charter(charter_with("permissions: { trust: high }\n"))
            .permissions.grants->bits.has(Permission::pii));
  CHECK(charter_faults(charter_with("permissions: { grant: [fly], trust: much }\n")) ==
        "f:4:24: permissions: \"fly\" is no permission (one of network, fs_read, fs_write, env, "
        "subprocess, pii)\n"
        "f:4:37: permissions: \"much\" is no trust level (one of untrusted, low, medium, high, "
        "system)\n");
}

TEST_CASE("tools that are asked about or denied are rules with a name") {
  const auto listed =
      good_charter(charter_with("tools: { ask: [bash], deny: [\"web_*\"] }\n")).permissions.listed;
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].id == "tools.ask.1");
  CHECK(listed[0].verdict == Verdict::ask);
  CHECK(listed[1].pattern.tool == "web_*");
  CHECK(listed[1].verdict == Verdict::deny);
}

TEST_CASE("guardrails are rules, with their faults") {
  const auto charter = good_charter(
      charter_with("guardrails: [{ id: no-push, tool: bash, verdict: deny, reason: no }]\n"));
  REQUIRE(charter.permissions.guardrails.size() == 1);
  CHECK(charter.permissions.guardrails[0].id == "no-push");
  CHECK(!charter_faults(charter_with("guardrails: [{ verdict: perhaps }]\n")).empty());
}

}  // namespace
}  // namespace pawl
