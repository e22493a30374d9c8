#include "pawl/port/egress.h"

#include <doctest/doctest.h>

#include <string>

namespace pawl {
namespace {

bool allows(const char* rule, const char* host, std::uint16_t port = 443) {
  return parse_egress_rule(rule)->allows(parse_url_host(host).value(), port);
}

TEST_CASE("N14: a rule matches a host exactly, or at the boundary of a dot") {
  CHECK(allows("allowed.test", "allowed.test"));
  CHECK(allows("allowed.test", "ALLOWED.test"));
  CHECK(allows("allowed.test", "allowed.test."));
  CHECK(allows("Allowed.Test.", "allowed.test"));
  CHECK(!allows("allowed.test", "allowed.test.evil.test"));
  CHECK(!allows("allowed.test", "evilallowed.test"));
  CHECK(!allows("allowed.test", "sub.allowed.test"));
  CHECK(!allows("allowed.test", "xn--llowed-cua.test"));
  CHECK(allows("*.allowed.test", "a.b.allowed.test"));
  CHECK(!allows("*.allowed.test", "allowed.test"));
  CHECK(!allows("*.allowed.test", "evilallowed.test"));
  CHECK(!allows("*.allowed.test", "allowed.test.evil.test"));
  CHECK(allows("*", "anything.test"));
  CHECK(allows("127.0.0.1", "127.0.0.1"));
  CHECK(!allows("127.0.0.1", "127.0.0.2"));
  CHECK(allows("[::1]", "[0:0::1]"));
}

TEST_CASE("a rule without a port is for the ports of the web") {
  CHECK(allows("a.test", "a.test", 80));
  CHECK(!allows("a.test", "a.test", 8080));
  CHECK(!allows("*", "a.test", 22));
  CHECK(allows("a.test:8080", "a.test", 8080));
  CHECK(!allows("a.test:8080", "a.test", 443));
  CHECK(allows("*:22", "a.test", 22));
  CHECK(allows("[::1]:*", "[::1]", 9));
}

TEST_CASE("a rule that says something else is refused, and named") {
  for (const char* const text :
       {"", "*.", "*a.test", "a.*.test", "**", "a.test:", "a.test:0", "a.test:080", "a.test:65536",
        "http://a.test", "a.test/x", "u@a.test", "0x7f.1", "127.1", "*.127.0.0.1", "::1", "*.[::1]",
        "a b", "[::1%lo]"}) {
    CAPTURE(text);
    const auto rule = parse_egress_rule(text);
    REQUIRE(!rule);
    CHECK(rule.error().message.find('"' + std::string(text) + '"') != std::string::npos);
  }
  for (const char* const text : {"a.test", "*.a.test:8443", "*", "*:*", "[::1]:80"}) {
    CHECK(to_text(*parse_egress_rule(text)) == text);
  }
}

TEST_CASE("private ranges, with or without a port") {
  const auto policy = parse_egress_policy(
      {"*"}, {"10.1.0.0/16", "127.0.0.1:8080", "[fd00::/8]:443", "::1", "[fe80::1]"});
  REQUIRE(policy);
  const auto allowed = [&](const char* address, std::uint16_t port) {
    return policy->allows_private(*parse_ip(address), port);
  };
  CHECK(allowed("10.1.2.3", 1));
  CHECK(!allowed("10.2.0.0", 1));
  CHECK(allowed("127.0.0.1", 8080));
  CHECK(!allowed("127.0.0.1", 8081));
  CHECK(allowed("fd00::9", 443));
  CHECK(!allowed("fd00::9", 80));
  CHECK(allowed("::1", 80));
  CHECK(allowed("fe80::1", 80));
  for (const char* const text : {"", "10/8", "10.0.0.1/8", "localhost", "127.0.0.1:0", "[::1", "*",
                                 "127.0.0.1:*", "[::1]x"}) {
    CAPTURE(text);
    CHECK(!parse_egress_range(text));
  }
}

TEST_CASE("a policy allows nothing by itself, is bounded, and can be described") {
  CHECK(EgressPolicy{}.rule_for(*parse_url_host("a.test"), 443) == nullptr);
  CHECK(describe(EgressPolicy{}) == "no host is allowed");
  CHECK(describe(*parse_egress_policy({"a.test", "*.b.test:8443"})) ==
        "hosts allowed: a.test, *.b.test:8443 (ports 80 and 443 where none is given)");
  const std::vector<std::string> many(20, "a.test");
  CHECK(describe(*parse_egress_policy(many)).find("and 4 more") != std::string::npos);
  CHECK(!parse_egress_policy(std::vector<std::string>(kEgressRulesMax + 1, "a.test")));
  CHECK(!parse_egress_policy({"a.test", "b/c"}));
  CHECK(!parse_egress_policy({}, {"x"}));
}

}  // namespace
}  // namespace pawl
