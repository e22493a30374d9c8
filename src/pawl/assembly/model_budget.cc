#include "pawl/assembly/model_budget.h"

#include <algorithm>

namespace pawl {
namespace {

bool bounds_money(const std::vector<BudgetWindow>& windows) {
  return std::any_of(windows.begin(), windows.end(),
                     [](const BudgetWindow& window) { return window.most.cost_pico > 0; });
}

bool bounds_money(const Charter& charter, const TenantBudgets& budgets) {
  const Spending& spending = charter.spending;
  if (spending.cost_pico > 0 || spending.ask_cost_pico > 0) return true;
  if (bounds_money(spending.tenant) || bounds_money(budgets.every)) return true;
  return std::any_of(budgets.own.begin(), budgets.own.end(),
                     [](const auto& own) { return bounds_money(own.second); });
}

}  // namespace

Status check_prices(const Charter& charter, const TenantBudgets& budgets,
                    const std::vector<ResolvedTarget>& targets) {
  using UnknownPrice = Spending::UnknownPrice;
  if (charter.spending.unknown_price == UnknownPrice::allow) return ok();
  if (budgets.unknown_price == UnknownPrice::allow || !bounds_money(charter, budgets)) return ok();
  for (const ResolvedTarget& target : targets) {
    if (target.facts.priced == ExecutorModelDescriptor::Support::yes) continue;
    return Error{ErrorCode::invalid_argument,
                 "the price of " + target.literal +
                     " is not known, and so a bound on money cannot hold: give its prices in the "
                     "catalogue of models (prices: { input, output }, docs/models.md), or write "
                     "budget: { unknown_price: allow }"};
  }
  return ok();
}

Result<std::shared_ptr<Executor>> budgeted(std::shared_ptr<RoutingExecutor> executor,
                                           const Charter& charter, const Budgeting& budgeting,
                                           Loop& loop) {
  const TenantBudgets& configured = budgeting.budgets();
  const bool binds =
      !charter.spending.tenant.empty() || !configured.every.empty() || !configured.own.empty();
  if (!binds) return std::shared_ptr<Executor>(std::move(executor));
  if (!budgeting.ledger) {
    return Error{ErrorCode::invalid_argument,
                 "a tenant's budget is kept in the data directory, and there is none here"};
  }
  BudgetedOptions options;
  options.inner = std::move(executor);
  options.ledger = budgeting.ledger;
  options.note = budgeting.note;
  options.windows = [own = charter.spending.tenant,
                     budgets = budgeting.budgets](const std::string& tenant) {
    std::vector<BudgetWindow> windows = budgets().of(tenant);
    windows.insert(windows.end(), own.begin(), own.end());
    return windows;
  };
  return make_budgeted_executor(std::move(options), loop);
}

}  // namespace pawl
