// budget: what a run has spent, and letting it spend more.
#include "pawl/base/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/run_options.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {
namespace {

int show_budget(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto details = service.show(*run);
  if (!details) return fail(context, details.error());
  const RunState& state = details->state;
  const std::string& currency = state.prices.currency;
  const std::string spent = format_money(state.tally.cost_pico, currency);
  const bool bounded = state.limits.cost_pico > 0;
  const std::string bound = bounded ? format_money(state.limits.cost_pico, currency) : "";
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("run", run->text).field("spent", spent);
    if (bounded) json.field("limit", bound);
    json.field("waits", waits_for(state) == WaitFor::budget).end_object();
    print(context, json.take() + "\n");
    return kExitDone;
  }
  print(context, "spent " + spent + (bounded ? " of " + bound : ", without a limit") + "\n");
  if (waits_for(state) == WaitFor::budget) {
    print(context, with_data_flag(context, "it waits for more: pawl budget " + run->text +
                                               " --raise 1.00, then pawl resume " + run->text) +
                       "\n");
  }
  return kExitDone;
}

}  // namespace

int command_budget(const CliContext& context) {
  const auto raise = context.arguments.one("raise");
  if (!raise) return show_budget(context);
  return with_target(context, [&](const Target& target) {
    const auto details = target.service().show(target.run);
    if (!details) return fail(context, details.error());
    const auto amount = parse_money_option("raise", *raise, details->state.prices.currency);
    if (!amount) return fail(context, amount.error());
    return leave(target,
                 target.service().budget_raise(target.run, *amount, context.environment.user()),
                 "the raise");
  });
}

}  // namespace pawl
