#include "pawl/assembly/model_budget.h"

#include <doctest/doctest.h>

#include "pawl/models/fake_executor_test.h"

namespace pawl {
namespace {

std::vector<ResolvedTarget> target_of(ExecutorModelDescriptor::Support priced) {
  ResolvedTarget target;
  target.literal = "vllm/qwen";
  target.facts.priced = priced;
  return {target};
}

const std::vector<ResolvedTarget> kUnpriced = target_of(ExecutorModelDescriptor::Support::no);

TEST_CASE("a bound on money is refused where a price is not known, with the remedy") {
  Charter charter;
  CHECK(check_prices(charter, {}, kUnpriced));
  charter.spending.cost_pico = 1;
  const Status refused = check_prices(charter, {}, kUnpriced);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("vllm/qwen") != std::string::npos);
  CHECK(refused.error().message.find("unknown_price: allow") != std::string::npos);
  CHECK(check_prices(charter, {}, target_of(ExecutorModelDescriptor::Support::yes)));
  charter.spending.unknown_price = Spending::UnknownPrice::allow;
  CHECK(check_prices(charter, {}, kUnpriced));
}

TEST_CASE("windows of money count as bounds; those of tokens do not") {
  Charter charter;
  TenantBudgets budgets;
  budgets.own["acme"] = {{1'000, {0, 5, 0}, "USD"}};
  CHECK(check_prices(charter, budgets, kUnpriced));
  budgets.own["acme"].front().most.cost_pico = 1;
  CHECK_FALSE(check_prices(charter, budgets, kUnpriced));
  budgets.unknown_price = Spending::UnknownPrice::allow;
  CHECK(check_prices(charter, budgets, kUnpriced));
}

TEST_CASE("an executor is wrapped where a window binds, and needs a ledger then") {
  TestLoop loop;
  auto pool = std::make_shared<ModelPool>(loop);
  const auto routing = std::make_shared<RoutingExecutor>(RoutingOptions{{pool}, {}, "", {}});
  TenantBudgets budgets;
  const Budgeting none{nullptr, [&budgets]() -> const TenantBudgets& { return budgets; }, {}};
  Charter charter;
  CHECK(*budgeted(routing, charter, none, loop) == routing);
  charter.spending.tenant = {{1'000, {0, 5, 0}, "USD"}};
  CHECK_FALSE(budgeted(routing, charter, none, loop));
}

}  // namespace
}  // namespace pawl
