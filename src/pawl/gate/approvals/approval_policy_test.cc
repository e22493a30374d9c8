#include "pawl/gate/approvals/approval_policy.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

std::shared_ptr<const ApprovalPolicy> policy_of(std::string_view json) {
  const auto config = approval_policy_from_json(json);
  REQUIRE_MESSAGE(config, std::string(json));
  const auto policy = make_approval_policy(*config);
  REQUIRE(policy);
  return *policy;
}

ProposedStep step(std::string tool, std::string input = "{}", Risk risk = Risk::low,
                  std::uint64_t cost_pico = 0) {
  return {std::move(tool), std::move(input), "harmless, trust me", risk, cost_pico};
}

constexpr std::uint64_t kUnit = 1'000'000'000'000;

TEST_CASE("plans and single calls get the documented decision and reason") {
  struct Case {
    const char* policy;
    Plan plan;
    const char* reason;  // null: does not ask
  };
  const char* pattern =
      R"({"pattern":["deploy*",{"tool":"bash","arguments":{"command":{"regex":"rm .*"}}}]})";
  const Case cases[] = {
      {R"("always_approve")", {{step("rm", "{}", Risk::critical, 9 * kUnit)}}, nullptr},
      {R"("always_approve")", {}, nullptr},
      {R"("always_require")", {{step("view")}}, "every call needs an approval"},
      {R"("always_require")", {}, "every call needs an approval"},
      {R"({"threshold":{"cost":"0.5"}})", {{step("a", "{}", Risk::low, kUnit / 2)}}, nullptr},
      {R"({"threshold":{"cost":"0.5"}})",
       {{step("a", "{}", Risk::low, kUnit / 2), step("b", "{}", Risk::low, 1)}},
       "it may cost 500000000001 pico, above the threshold of 500000000000"},
      {R"({"threshold":{"cost":0}})",
       {{step("a", "{}", Risk::low, UINT64_MAX), step("b", "{}", Risk::low, 2)}},
       "it may cost 18446744073709551615 pico, above the threshold of 0"},
      {R"({"threshold":{"steps":1}})", {{step("a")}}, nullptr},
      {R"({"threshold":{"steps":1}})",
       {{step("a"), step("b")}},
       "it has 2 steps, above the threshold of 1"},
      {R"({"threshold":{"risk":"high"}})", {{step("a", "{}", Risk::medium)}}, nullptr},
      {R"({"threshold":{"risk":"high"}})",
       {{step("a"), step("b", "{}", Risk::high)}},
       "the tool b is of risk high, at or above the threshold high"},
      {pattern, {{step("view")}}, nullptr},
      {pattern, {{step("deploy_all")}}, "a call of deploy_all matches pattern 1 (deploy*)"},
      {pattern, {{step("bash", R"({"command":"ls"})")}}, nullptr},
      {pattern,
       {{step("view"), step("bash", R"({"command":"ls; rm x"})")}},
       "a call of bash matches pattern 2 (bash)"},
      {pattern, {{step("bash", "damaged")}}, "a call of bash matches pattern 2 (bash)"},
      {R"({"any":["always_approve",{"threshold":{"steps":1}}]})", {{step("a")}}, nullptr},
      {R"({"any":["always_approve",{"threshold":{"steps":1}}]})",
       {{step("a"), step("b")}},
       "threshold: it has 2 steps, above the threshold of 1"},
      {R"({"any":[{"any":["always_require"]}]})",
       {{step("a")}},
       "any: always_require: every call needs an approval"},
  };
  for (const Case& one : cases) {
    INFO(std::string(one.policy) << ", " << one.plan.steps.size() << " steps");
    const auto policy = policy_of(one.policy);
    const auto reason = policy->approval_reason(one.plan);
    CHECK(policy->requires_approval(one.plan) == (one.reason != nullptr));
    CHECK(reason.value_or("-") == (one.reason != nullptr ? one.reason : "-"));
  }
}

TEST_CASE("policies have names") {
  CHECK(policy_of(R"("always_approve")")->name() == "always_approve");
  CHECK(policy_of(R"({"any":["always_require"]})")->name() == "any");
  CHECK(policy_of(R"({"pattern":["x"]})")->name() == "pattern");
  CHECK(policy_of(R"({"threshold":{"steps":1}})")->name() == "threshold");
}

TEST_CASE("what nobody chose asks") {
  const auto policy = make_approval_policy({});
  REQUIRE(policy);
  CHECK((*policy)->requires_approval({}));
}

TEST_CASE("every policy survives being written") {
  const char* texts[] = {
      R"("always_approve")",
      R"("always_require")",
      R"({"threshold":{"cost":"0.000000000001","steps":3,"risk":"critical"}})",
      R"({"threshold":{"cost":"2.0"}})",
      R"({"pattern":[{"tool":"a*","arguments":{"/x/0":{"not_regex":["y"]},"z":{"glob":["w"]}}}]})",
      R"({"any":["always_approve",{"any":[{"threshold":{"steps":0}}]}]})",
  };
  for (const char* text : texts) {
    const auto config = approval_policy_from_json(text);
    REQUIRE(config);
    CHECK(approval_policy_to_json(*config) == text);
    CHECK(approval_policy_from_json(approval_policy_to_json(*config)).value() == *config);
  }
}

TEST_CASE("faults name the path") {
  struct Case {
    const char* json;
    const char* fault;
  };
  const Case cases[] = {
      {R"("sometimes")", "policy: there is no policy \"sometimes\""},
      {R"({})", "policy: must be one policy"},
      {R"({"any":[],"pattern":[]})", "policy: must be one policy"},
      {R"({"some":[]})", "policy: there is no policy \"some\""},
      {R"({"any":[]})", "policy.any: must be a list of 1 to 64"},
      {R"({"any":["always_approve",{"threshold":{"risk":"huge"}}]})", "policy.any[1].threshold"},
      {R"({"threshold":{}})", "policy.threshold: a threshold needs cost, steps or risk"},
      {R"({"threshold":{"cost":"-1"}})", "\"cost\" must be an amount"},
      {R"({"threshold":{"cost":"0.0000000000001"}})", "\"cost\" must be an amount"},
      {R"({"threshold":{"cost":1e3}})", "\"cost\" must be an amount"},
      {R"({"threshold":{"step":1}})", "step"},
      {R"({"pattern":[{"tool":"x","arguments":{"a":{"regex":"("}}}]})", "policy.pattern[0]"},
      {R"({"pattern":[{"arguments":{}}]})", "policy.pattern[0]"},
      {R"(7)", "policy: must be one policy"},
  };
  for (const Case& one : cases) {
    INFO(std::string(one.json));
    const auto config = approval_policy_from_json(one.json);
    REQUIRE_FALSE(config);
    CHECK(config.error().message.find(one.fault) != std::string::npos);
  }
  CHECK_FALSE(approval_policy_from_json("{"));
}

TEST_CASE("nesting is bounded in documents and in values") {
  std::string json = R"("always_approve")";
  ApprovalPolicyConfig config{AlwaysApproveConfig{}};
  for (std::size_t i = 0; i < kPolicyDepthMax; ++i) {
    if (i + 1 < kPolicyDepthMax) CHECK(make_approval_policy(config));
    json = R"({"any":[)" + json + "]}";
    config = ApprovalPolicyConfig{CompositeConfig{{config}}};
  }
  CHECK_FALSE(approval_policy_from_json(json));
  CHECK_FALSE(make_approval_policy(config));
}

TEST_CASE("risks have words") {
  for (const Risk risk : {Risk::low, Risk::medium, Risk::high, Risk::critical}) {
    CHECK(parse_risk(name(risk)) == risk);
  }
  CHECK_FALSE(parse_risk("none"));
}

}  // namespace
}  // namespace pawl
