// Applies the budgets of a charter and of the configuration to the models of a run.
#pragma once

#include <memory>
#include <vector>

#include "pawl/charter/charter.h"
#include "pawl/charter/charter_budget.h"
#include "pawl/models/budgeted_executor.h"

namespace pawl {

// A bound on money does not bind a model whose price nobody knows: invalid_argument, with the
// remedy, unless the charter or the configuration allows it.
Status check_prices(const Charter& charter, const TenantBudgets& budgets,
                    const std::vector<ResolvedTarget>& targets);

// The executor itself where no window binds anybody. `budgets` gives those in force.
// invalid_argument: windows, and no ledger to keep them in.
struct Budgeting {
  std::shared_ptr<BudgetLedger> ledger;  // may be null
  std::function<const TenantBudgets&()> budgets;
  std::function<void(const std::string&)> note;
};
Result<std::shared_ptr<Executor>> budgeted(std::shared_ptr<RoutingExecutor> executor,
                                           const Charter& charter, const Budgeting& budgeting,
                                           Loop& loop);

}  // namespace pawl
