#include "pawl/charter/charter_budget.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

constexpr std::uint64_t kUnit = 1'000'000'000'000;

std::string faults_of(const std::string& budget) {
  return charter_faults(charter_with("budget: " + budget));
}

TenantBudgets configured(const std::string& yaml, std::string& faults) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE(document.root);
  std::vector<Fault> found;
  TenantBudgets budgets = read_tenant_budgets(*document.root, found);
  faults = to_string(found, "f");
  return budgets;
}

TEST_CASE("a charter's budget is money, tokens, time, and windows of the tenant's") {
  const Charter charter = good_charter(
      charter_with("budget:\n  cost: 2.00 USD\n  ask_cost: 1.00 USD\n  tokens: 5000\n  time: 10m\n"
                   "  unknown_price: allow\n"
                   "  tenant: [{ per: 1h, cost: 3.00 USD }, { per: 7d, tokens: 9, time: 1h }]\n"));
  CHECK(charter.spending.cost_pico == 2 * kUnit);
  CHECK(charter.spending.ask_cost_pico == kUnit);
  CHECK(charter.limits.budget_tokens == 5'000);
  CHECK(charter.limits.budget_ms == 600'000);
  CHECK(charter.limits.tokens == Limits{}.tokens);
  CHECK(charter.spending.unknown_price == Spending::UnknownPrice::allow);
  REQUIRE(charter.spending.tenant.size() == 2);
  CHECK(charter.spending.tenant[0] == BudgetWindow{3'600'000, {3 * kUnit, 0, 0}, "USD"});
  CHECK(charter.spending.tenant[1] == BudgetWindow{604'800'000, {0, 9, 3'600'000}, "USD"});
}

TEST_CASE("what bounds nothing, is no number, or stands twice, is a fault with its line") {
  CHECK(faults_of("{ tenant: { per: 1h } }").find("the window bounds nothing") !=
        std::string::npos);
  CHECK(faults_of("{ tenant: { cost: 1 USD } }").find("\"per\" is missing") != std::string::npos);
  CHECK(faults_of("{ tenant: { per: 32d, tokens: 1 } }").find("f:4:") == 0);
  for (const std::string bad : {"'.nan'", "NaN", "-1", "0", "1.5", "many"}) {
    CAPTURE(bad);
    CHECK(faults_of("{ tokens: " + bad + " }").find("f:4:") == 0);
    CHECK(faults_of("{ tenant: { per: 1h, tokens: " + bad + " } }").find("f:4:") == 0);
  }
  for (const std::string bad : {"NaN", "-1", "0", "many"}) {
    CAPTURE(bad);
    CHECK(faults_of("{ cost: " + bad + " USD }").find("f:4:") == 0);
  }
  CHECK(faults_of("{ unknown_price: maybe }").find("refuse") != std::string::npos);
  const std::string twice =
      charter_faults(charter_with("limits: { cost: 1 USD }\nbudget: { cost: 2 USD }"));
  CHECK(twice.find("stands in limits and in budget") != std::string::npos);
}

TEST_CASE("a configuration has windows of every tenant, and of some their own") {
  std::string faults;
  const TenantBudgets budgets = configured(
      "tenant: { per: 1h, tokens: 10 }\ntenants: { acme: [{ per: 1d, tokens: 99 }], free: [] }",
      faults);
  CHECK(faults.empty());
  CHECK(budgets.of("anybody").front().most.tokens == 10);
  CHECK(budgets.of("acme").front().most.tokens == 99);
  CHECK(budgets.of("free").empty());
  configured("tenants: { 'a b': [] }", faults);
  CHECK(faults.find("cannot be a tenant") != std::string::npos);
  configured("windows: 1", faults);
  CHECK_FALSE(faults.empty());
}

TEST_CASE("names of tenants have no blanks and a bound") {
  CHECK(is_tenant_name("acme:eu@1.x_y-z"));
  CHECK_FALSE(is_tenant_name(""));
  CHECK_FALSE(is_tenant_name("a b"));
  CHECK_FALSE(is_tenant_name(std::string(kTenantNameBytesMax + 1, 'a')));
}

}  // namespace
}  // namespace pawl
