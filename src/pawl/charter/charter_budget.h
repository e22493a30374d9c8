// What may be spent, as charters and configurations write it: the section `budget`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"
#include "pawl/limits.h"

namespace pawl {

inline constexpr std::size_t kTenantNameBytesMax = 128;
inline constexpr std::size_t kTenantsMax = 10'000;

// Of a charter: the run's own budget (what is used up makes it wait, where a limit ends it), and
// windows of its tenant's. What `limits` has said about money already may not be said again.
void read_budget(const Node& node, std::vector<Fault>& faults, Limits& limits, Spending& spending);

// Of a configuration: windows of every tenant, and of some that have their own instead.
struct TenantBudgets {
  std::vector<BudgetWindow> every;
  std::map<std::string, std::vector<BudgetWindow>, std::less<>> own;
  Spending::UnknownPrice unknown_price = Spending::UnknownPrice::refuse;

  const std::vector<BudgetWindow>& of(const std::string& tenant) const;
};
TenantBudgets read_tenant_budgets(const Node& node, std::vector<Fault>& faults);

// Letters, digits, '_', '-', '.', ':' and '@'.
bool is_tenant_name(std::string_view text);

}  // namespace pawl
