#include "pawl/charter/charter_budget.h"

#include <algorithm>
#include <array>

#include "pawl/charter/charter_limits.h"
#include "pawl/charter/charter_money.h"

namespace pawl {

namespace {

constexpr std::array<std::string_view, 2> kUnknownPrices = {"refuse", "allow"};

void take_unknown_price(MapReader& reader, Spending::UnknownPrice& out) {
  if (const auto choice = reader.take_choice("unknown_price", kUnknownPrices)) {
    out = static_cast<Spending::UnknownPrice>(*choice);
  }
}

BudgetWindow read_window(const Node& node, std::vector<Fault>& faults, const std::string& where) {
  BudgetWindow window;
  MapReader reader(node, faults, where);
  reader.require("per");
  reader.take_duration_ms("per",
                          {static_cast<std::int64_t>(kBudgetWindowMinMs),
                           static_cast<std::int64_t>(kBudgetWindowMaxMs)},
                          window.length_ms);
  if (const auto cost = take_money(reader, "cost")) {
    window.most.cost_pico = cost->pico;
    window.currency = cost->currency;
  }
  reader.take_int("tokens", {1, kLimitTokensMax}, window.most.tokens);
  reader.take_duration_ms("time", {1, kLimitTimeMaxMs}, window.most.time_ms);
  reader.finish();
  const bool said = node.find("cost") != nullptr || node.find("tokens") != nullptr ||
                    node.find("time") != nullptr;
  if (node.kind() == Node::Kind::map && !said) {
    reader.fault(node.mark(), "the window bounds nothing", "add cost:, tokens: or time:");
  }
  return window;
}

// One window, or a list of them.
std::vector<BudgetWindow> read_windows(const Node& node, std::vector<Fault>& faults,
                                       const std::string& where) {
  if (node.kind() != Node::Kind::list) return {read_window(node, faults, where)};
  std::vector<BudgetWindow> windows;
  for (const Node& item : node.items()) {
    if (windows.size() == kBudgetWindowsMax) {
      faults.push_back(
          {item.mark(),
           "there may be " + std::to_string(kBudgetWindowsMax) + " windows in " + where,
           "remove some"});
      break;
    }
    windows.push_back(read_window(item, faults, where));
  }
  return windows;
}

void read_own(const Node& tenants, std::vector<Fault>& faults, TenantBudgets& budgets) {
  for (const Member& member : tenants.members()) {
    if (budgets.own.size() == kTenantsMax || !is_tenant_name(member.key)) {
      faults.push_back({member.key_mark, quoted(member.key) + " cannot be a tenant here",
                        "letters, digits and _-.:@, at most " +
                            std::to_string(kTenantNameBytesMax) + "; " +
                            std::to_string(kTenantsMax) + " tenants"});
      return;
    }
    budgets.own[member.key] = read_windows(member.value, faults, "budget.tenants." + member.key);
  }
}

}  // namespace

bool is_tenant_name(std::string_view text) {
  const auto accepted = [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') ||
           std::string_view("_-.:@").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kTenantNameBytesMax &&
         std::all_of(text.begin(), text.end(), accepted);
}

void read_budget(const Node& node, std::vector<Fault>& faults, Limits& limits, Spending& spending) {
  MapReader reader(node, faults, "budget");
  for (const std::string_view key : {"cost", "ask_cost"}) {
    const Node* twice = node.find(key);
    const bool stands = key == "cost" ? spending.cost_pico > 0 : spending.ask_cost_pico > 0;
    if (twice == nullptr || !stands) continue;
    reader.fault(twice->mark(), quoted(key) + " stands in limits and in budget",
                 "keep one of them");
  }
  if (node.find("cost") != nullptr || node.find("ask_cost") != nullptr) {
    read_spending(reader, node, spending);
  }
  reader.take_int("tokens", {1, kLimitTokensMax}, limits.budget_tokens);
  reader.take_duration_ms("time", {1, kLimitTimeMaxMs}, limits.budget_ms);
  take_unknown_price(reader, spending.unknown_price);
  if (const Node* tenant = reader.take("tenant")) {
    spending.tenant = read_windows(*tenant, faults, "budget.tenant");
  }
  reader.finish();
}

TenantBudgets read_tenant_budgets(const Node& node, std::vector<Fault>& faults) {
  TenantBudgets budgets;
  MapReader reader(node, faults, "budget");
  if (const Node* tenant = reader.take("tenant")) {
    budgets.every = read_windows(*tenant, faults, "budget.tenant");
  }
  if (const Node* tenants = reader.take_map("tenants")) read_own(*tenants, faults, budgets);
  take_unknown_price(reader, budgets.unknown_price);
  reader.finish();
  return budgets;
}

const std::vector<BudgetWindow>& TenantBudgets::of(const std::string& tenant) const {
  const auto found = own.find(tenant);
  return found == own.end() ? every : found->second;
}

}  // namespace pawl
