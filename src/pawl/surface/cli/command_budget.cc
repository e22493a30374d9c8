// budget: what a run or a tenant has spent, and letting it spend more.
#include "pawl/charter/charter_budget.h"
#include "pawl/charter/charter_limits.h"
#include "pawl/history/explain.h"
#include "pawl/json.h"
#include "pawl/models/budgeted_executor.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/run_options.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {
namespace {

constexpr const char* kCurrency = "USD";
constexpr std::uint64_t kDayMs = 86'400'000;

Result<BudgetAmount> raise_of(const Arguments& arguments, const std::string& currency) {
  BudgetAmount raise;
  if (const auto text = arguments.one("raise")) {
    PAWL_TRY(raise.cost_pico, parse_money_option("raise", *text, currency));
  }
  if (const auto text = arguments.one("raise-tokens")) {
    PAWL_TRY(raise.tokens, parse_count("raise-tokens", *text));
  }
  if (const auto text = arguments.one("raise-time")) {
    PAWL_TRY(raise.time_ms, parse_duration_option("raise-time", *text));
  }
  return raise;
}

bool raises(const Arguments& arguments) {
  return arguments.has("raise") || arguments.has("raise-tokens") || arguments.has("raise-time");
}

struct Bound {
  std::string_view name;
  std::string spent;
  std::string limit;  // empty: none
};

std::vector<Bound> bounds_of(const RunState& state) {
  const std::string& currency = state.prices.currency;
  const Limits& limits = state.limits;
  const auto money = [&currency](std::uint64_t pico) { return format_money(pico, currency); };
  const auto tokens = [](std::uint64_t count) { return std::to_string(count) + " tokens"; };
  const auto seconds = [](std::uint64_t ms) { return std::to_string(ms / 1000) + " s"; };
  return {
      {"cost", money(state.tally.cost_pico), limits.cost_pico > 0 ? money(limits.cost_pico) : ""},
      {"tokens", tokens(total_tokens(state.tally.usage)),
       limits.budget_tokens > 0 ? tokens(limits.budget_tokens) : ""},
      {"time", seconds(state.tally.active_ms),
       limits.budget_ms > 0 ? seconds(limits.budget_ms) : ""}};
}

int show_budget(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto details = service.show(*run);
  if (!details) return fail(context, details.error());
  const RunState& state = details->state;
  const std::vector<Bound> bounds = bounds_of(state);
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("run", run->text).field("spent", bounds.front().spent);
    if (!bounds.front().limit.empty()) json.field("limit", bounds.front().limit);
    for (const Bound& bound : bounds) {
      json.key(bound.name).begin_object().field("spent", bound.spent);
      if (!bound.limit.empty()) json.field("limit", bound.limit);
      json.end_object();
    }
    json.field("waits", waits_for(state) == WaitFor::budget).end_object();
    print(context, json.take() + "\n");
    return kExitDone;
  }
  for (const Bound& bound : bounds) {
    const bool money = bound.name == "cost";
    if (bound.limit.empty() && !money) continue;
    print(context, "spent " + bound.spent +
                       (bound.limit.empty() ? ", without a limit" : " of " + bound.limit) + "\n");
  }
  if (waits_for(state) == WaitFor::budget) {
    print(context, with_data_flag(context, explain_budget_wait(state)));
  }
  return kExitDone;
}

void show_window(const CliContext& context, const TenantSpending& tenant,
                 const BudgetWindow& window) {
  const BudgetAmount spent = spent_in(window, tenant.entries, tenant.now_ms);
  const BudgetAmount left = left_of(window, tenant.entries, tenant.now_ms);
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("tenant", tenant.tenant).field("window", to_string(window));
    json.field("per_ms", window.length_ms);
    json.field("spent_cost", format_money(spent.cost_pico, window.currency));
    json.field("spent_tokens", spent.tokens).field("spent_ms", spent.time_ms);
    if (window.most.cost_pico > 0) {
      json.field("left_cost", format_money(left.cost_pico, window.currency));
    }
    if (window.most.tokens > 0) json.field("left_tokens", left.tokens);
    if (window.most.time_ms > 0) json.field("left_ms", left.time_ms);
    return print(context, json.end_object().take() + "\n");
  }
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (window.most.cost_pico > 0) {
    add(format_money(spent.cost_pico, window.currency) + " spent, " +
        format_money(left.cost_pico, window.currency) + " left");
  }
  if (window.most.tokens > 0) {
    add(std::to_string(spent.tokens) + " tokens used, " + std::to_string(left.tokens) + " left");
  }
  if (window.most.time_ms > 0) {
    add(std::to_string(spent.time_ms / 1000) + " s used, " + std::to_string(left.time_ms / 1000) +
        " s left");
  }
  print(context, to_string(window) + ": " + text + "\n");
}

// What a tenant without windows has used in a day.
void show_day(const CliContext& context, const TenantSpending& tenant) {
  const BudgetWindow day{kDayMs, {}, kCurrency};
  const BudgetAmount spent = spent_in(day, tenant.entries, tenant.now_ms);
  const std::string cost = format_money(spent.cost_pico, day.currency);
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("tenant", tenant.tenant).field("per_ms", day.length_ms);
    json.field("spent_cost", cost).field("spent_tokens", spent.tokens);
    json.field("spent_ms", spent.time_ms).end_object();
    return print(context, json.take() + "\n");
  }
  print(context, "in the last day: " + cost + " and " + std::to_string(spent.tokens) +
                     " tokens, of runs whose charters have windows\n");
}

int tenant_budget(const CliContext& context, const std::string& tenant) {
  if (!is_tenant_name(tenant)) {
    return fail(context, {ErrorCode::invalid_argument,
                          "--tenant takes a name of letters, digits and _-.:@"});
  }
  if (context.arguments.has("RUN")) {
    return fail(context, {ErrorCode::invalid_argument, "name a run or a tenant, not both"});
  }
  auto spending = context.environment.tenant_spending(context.settings, tenant);
  if (!spending) return fail(context, spending.error());
  if (raises(context.arguments)) {
    const auto& windows = spending->windows;
    const std::string currency = windows.empty() ? kCurrency : windows.front().currency;
    const auto raise = raise_of(context.arguments, currency);
    if (!raise) return fail(context, raise.error());
    const Status raised = context.environment.raise_tenant(context.settings, tenant, *raise);
    if (!raised) return fail(context, raised.error());
    spending = context.environment.tenant_spending(context.settings, tenant);
    if (!spending) return fail(context, spending.error());
  }
  for (const BudgetWindow& window : spending->windows) show_window(context, *spending, window);
  if (spending->windows.empty()) {
    print_stderr(context,
                 "the configuration gives the tenant " + tenant +
                     " no budget; one is written as budget: { tenant: { per: 1d, cost: 5.00 "
                     "USD } }");
    show_day(context, *spending);
  }
  return kExitDone;
}

int command_budget(const CliContext& context) {
  if (const auto tenant = context.arguments.one("tenant")) return tenant_budget(context, *tenant);
  if (!context.arguments.has("RUN")) {
    return fail(context, {ErrorCode::invalid_argument, "name a RUN, or a tenant with --tenant"});
  }
  if (!raises(context.arguments)) return show_budget(context);
  return with_target(context, [&](const Target& target) {
    const auto details = target.service().show(target.run);
    if (!details) return fail(context, details.error());
    const auto amount = raise_of(context.arguments, details->state.prices.currency);
    if (!amount) return fail(context, amount.error());
    return leave(target,
                 target.service().budget_raise(target.run, *amount, context.environment.user()),
                 "the raise");
  });
}

}  // namespace

CommandEntry budget_entry() {
  return {
      .name = "budget",
      .summary = "Show what a run or a tenant has spent, or let it spend more",
      .text =
          "A run that cannot afford its next model call waits. The amount is added to its budget; "
          "of a tenant, for as long as each window is.",
      .arguments = {{"RUN", "The id of a run, or any unique prefix of it.", Need::optional}},
      .options = {{"tenant", '\0', Takes::value, "NAME",
                   "All runs of this tenant, instead of one run."},
                  {"raise", '\0', Takes::value, "AMOUNT",
                   "By this much, such as 1.00 or '1.00 USD'."},
                  {"raise-tokens", '\0', Takes::value, "N", "By so many tokens."},
                  {"raise-time", '\0', Takes::value, "DURATION", "By so much time, such as 10m."}},
      .run = command_budget,
  };
}

}  // namespace pawl
