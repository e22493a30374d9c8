// Puts the windows of a tenant before an executor: what a call can take at most is reserved in the
// ledger before anybody is asked, the reply is given no more room than that, and what it took is
// settled after. A window without room fails the phase as FailureKind::budget, with when to ask
// again; so does a ledger that cannot be used.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/loop.h"
#include "pawl/models/routing_executor.h"
#include "pawl/port/budget.h"

namespace pawl {

// Set aside for a call where a window counts time; what it really took is settled.
inline constexpr std::uint64_t kBudgetCallMs = 60'000;
// Of a ledger that failed.
inline constexpr std::uint64_t kLedgerRetryMs = 60'000;

struct BudgetedOptions {
  std::shared_ptr<RoutingExecutor> inner;
  std::shared_ptr<BudgetLedger> ledger;
  std::function<std::vector<BudgetWindow>(const std::string& tenant)> windows;
  std::function<void(const std::string&)> note = [](const std::string&) {};  // for the log
};

// The loop outlives it.
std::shared_ptr<Executor> make_budgeted_executor(BudgetedOptions options, Loop& loop);

// "1.00 USD and 5000 tokens in 1h"
std::string to_string(const BudgetWindow& window);

}  // namespace pawl
