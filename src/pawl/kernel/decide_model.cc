// One attempt at a step: which model is asked, with how much room, for how much money; and what
// follows when it fails.
#include "pawl/kernel/context.h"
#include "pawl/kernel/decide_agents.h"
#include "pawl/kernel/decide_tree.h"

namespace pawl {
namespace {

struct Reservation {
  Usage usage;
  std::uint64_t output_tokens = 0;      // the bound that is sent; 0: none
  std::optional<BudgetHeld> held = {};  // the budget that does not allow it
  TreeWants::Money wants = {};          // of the run that started this one

  void hold(const BudgetHeld& why) {
    if (!held) held = why;
  }
};

// Writing a cache may cost more than reading the input, and for an hour more than for five minutes:
// the dearest one is set aside.
Usage input_usage(std::uint64_t context, const Rates& rates) {
  Usage usage;
  const std::uint64_t most = dearest_input(rates);
  if (most == rates.input) {
    usage.input_tokens = context;
  } else if (most == rates.cache_creation_1h) {
    usage.cache_creation_1h_tokens = context;
  } else {
    (most == rates.cache_creation ? usage.cache_creation_tokens : usage.cache_read_tokens) =
        context;
  }
  return usage;
}

// That a reply may have.
std::uint64_t output_tokens_of(const RunState& state, const Instance& instance) {
  const NodeSpec* node = find_node(state.nodes, instance.node);
  const bool said = node != nullptr && node->output_tokens > 0;
  return said ? node->output_tokens : state.output_tokens;
}

const CompactionPolicy& compaction_of(const RunState& state, const Instance& instance) {
  const NodeSpec* node = find_node(state.nodes, instance.node);
  return node != nullptr && node->compaction ? *node->compaction : state.compaction;
}

std::uint64_t wanted_output(const Draft& draft, const Instance& instance,
                            const ModelTarget& target) {
  const std::uint64_t most = target.output_tokens;
  const std::uint64_t asked = output_tokens_of(draft.state, instance);
  if (asked == 0) return most == 0 ? draft.rules.reserved_output_tokens : most;
  return most == 0 ? asked : std::min(asked, most);
}

// A budget as one call sees it: what is left, what goes in takes, and what a token that comes out
// takes.
struct Purse {
  BudgetUnit unit;
  std::uint64_t left;
  std::uint64_t input;
  std::uint64_t price;
};

// A call is made only if the most it can take is left: the reply is given as much room as there is.
void keep_within(Reservation& reservation, const Purse& purse, std::uint64_t least) {
  const std::uint64_t room = purse.left - std::min(purse.left, purse.input);
  std::uint64_t& output = reservation.usage.output_tokens;
  if (purse.price > 0) output = std::min(output, room / purse.price);
  reservation.output_tokens = output;
  const std::uint64_t needed = add_saturating(purse.input, multiply_saturating(least, purse.price));
  const bool affordable = needed <= purse.left && (purse.left > 0 || purse.input == 0);
  if (!affordable) {
    reservation.hold({kRootInstance, purse.unit, needed, purse.left, 0, 0});
  }
}

std::uint64_t left_of(std::uint64_t bound, std::uint64_t spent, Reserved::Sum reserved) {
  return bound - static_cast<std::uint64_t>(std::min<Reserved::Sum>(bound, reserved + spent));
}

// What the run that started this one has allowed. As much as the call may take is asked for first;
// what is given is taken if the reply has any room in it.
void keep_within_allowance(const Draft& draft, Reservation& reservation, const Purse& own,
                           std::uint64_t least) {
  const std::uint64_t output = reservation.usage.output_tokens;
  const std::uint64_t context = total_tokens(reservation.usage) - output;
  const auto pico_for = [&](std::uint64_t tokens) {
    return add_saturating(own.input, multiply_saturating(tokens, own.price));
  };
  const AllowedLeft left = left_of_allowance(draft);
  reservation.wants = {pico_for(least), pico_for(output), add_saturating(context, least),
                       add_saturating(context, output)};
  const bool all = reservation.wants.pico <= left.pico && reservation.wants.tokens <= left.tokens;
  if (all || draft.wants.takes_less) {
    keep_within(reservation, {BudgetUnit::parent, left.pico, own.input, own.price}, least);
    keep_within(reservation, {BudgetUnit::parent, left.tokens, context, 1}, least);
  } else {
    reservation.hold({kRootInstance, BudgetUnit::parent, reservation.wants.pico, left.pico, 0, 0});
  }
}

Reservation reserve(const Draft& draft, const Instance& instance, const ModelTarget& target,
                    std::uint64_t wanted) {
  const std::uint64_t context = instance.context_tokens;
  Reservation reservation;
  const Limits& limits = draft.state.limits;
  const Tally& tally = draft.state.tally;
  reservation.output_tokens = output_tokens_of(draft.state, instance);
  if (!reserves(draft.state)) {
    reservation.usage.input_tokens = context;
    reservation.usage.output_tokens = std::min(wanted, draft.rules.reserved_output_tokens);
  } else {
    const Rates rates = worst_rates(target.prices, context, draft.rules.input_estimate_factor);
    const std::uint64_t least = std::min(wanted, draft.rules.output_tokens_min);
    reservation.usage = input_usage(context, rates);
    const std::uint64_t input_pico = cost_pico(reservation.usage, rates);
    reservation.usage.output_tokens = wanted;
    const Reserved reserved = draft.reserved();
    if (limits.cost_pico > 0) {
      const std::uint64_t left = left_of(limits.cost_pico, tally.cost_pico, reserved.pico);
      keep_within(reservation, {BudgetUnit::money, left, input_pico, rates.output}, least);
    }
    if (limits.budget_tokens > 0) {
      const std::uint64_t left =
          left_of(limits.budget_tokens, total_tokens(tally.usage), reserved.tokens);
      keep_within(reservation, {BudgetUnit::tokens, left, context, 1}, least);
    }
    if (draft.state.asks_parent == Presence::present && !reservation.held) {
      keep_within_allowance(draft, reservation, {BudgetUnit::parent, 0, input_pico, rates.output},
                            least);
    }
  }
  if (limits.ask_cost_pico > 0 && tally.cost_pico >= limits.ask_cost_pico) {
    const std::uint64_t left = left_of(limits.cost_pico, tally.cost_pico, 0);
    reservation.hold({kRootInstance, BudgetUnit::money, 0, left, 0, 0});
  }
  if (limits.budget_ms > 0 && tally.active_ms >= limits.budget_ms) {
    reservation.hold({kRootInstance, BudgetUnit::time, 1, 0, 0, 0});
  }
  return reservation;
}

bool is_full(const Draft& draft, const Instance& instance, const ModelTarget& target) {
  const std::uint64_t context = instance.context_tokens;
  const std::uint64_t ratio = compaction_of(draft.state, instance).ratio_percent;
  return ratio > 0 && target.context_tokens > 0 &&
         multiply_saturating(context, 100) >= multiply_saturating(target.context_tokens, ratio);
}

// `tokens`: of the summary that comes in the place of what goes. A trim leaves a line only.
void cut(Draft& draft, const Instance& instance, const CutPlan& plan, CutBy by,
         std::uint64_t tokens) {
  const std::uint64_t after =
      context_after_cut(draft.state, instance, instance.context_tokens, plan, tokens);
  std::string text;
  if (by == CutBy::trim) text = with_number(draft.rules.say.trimmed, plan.removed);
  draft.add(TranscriptCut{instance.id, plan.to, by, plan.removed, after, std::move(text), tokens});
}

void hold(Draft& draft, const Instance& instance, const Reservation& reservation) {
  BudgetHeld held = *reservation.held;
  held.instance = instance.id;
  draft.add(held);
  if (held.unit == BudgetUnit::parent) draft.wants.want_money(reservation.wants);
}

// True: the step goes on when the summary is there. Without the money for one the conversation is
// shortened on the spot.
bool begins_compaction(Draft& draft, const Instance& instance) {
  const ModelTarget& target = draft.state.targets[instance.target];
  const bool done = instance.compacted_in_step == instance.open_step;
  if (done || !is_full(draft, instance, target)) return false;
  const auto plan =
      plan_cut(draft.rules, instance, compaction_of(draft.state, instance).keep_messages);
  if (!plan) return false;
  const Reservation reservation = reserve(draft, instance, target, draft.rules.summary_tokens);
  if (reservation.held && reservation.held->unit == BudgetUnit::parent) {
    hold(draft, instance, reservation);
    return true;
  }
  if (reservation.held) {
    cut(draft, instance, *plan, CutBy::trim, 0);
    return false;
  }
  CompactContext effect;
  effect.instance = instance.id;
  effect.to = plan->to;
  effect.target = instance.target;
  effect.reserved = reservation.usage;
  draft.start(effect);
  return true;
}

// The first target from the instance's on whose context is large enough.
std::optional<std::uint32_t> fitting_target(const Draft& draft, const Instance& instance,
                                            std::uint64_t context) {
  std::optional<std::uint32_t> target = instance.target;
  while (target) {
    const std::uint64_t most = draft.state.targets[*target].context_tokens;
    if (most == 0 || context <= most) break;
    target = target_after(draft.state, instance, *target);
  }
  return target;
}

void stop_for_context(Draft& draft, const Instance& instance, std::uint64_t context) {
  const ModelTarget& target = draft.state.targets[instance.target];
  fail_instance(draft, instance, RunStatus::failed, StopReason::context,
                "context: " + std::to_string(context) + " tokens, and " + target.literal +
                    " takes " + std::to_string(target.context_tokens));
}

void go_on_with(Draft& draft, const Instance& instance, std::uint32_t target) {
  draft.add(TargetChanged{instance.id, target});
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, 0});
  call_again(draft, instance);
}

void retry_in(Draft& draft, const Instance& instance, std::uint32_t failed,
              std::uint64_t delay_ms) {
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, failed});
  if (delay_ms == 0) return call_again(draft, instance);
  draft.add(RetryPlanned{instance.id, failed, add_saturating(draft.stamp.elapsed_ms, delay_ms)});
}

void park(Draft& draft, const Instance& instance, std::uint32_t failed, std::uint64_t delay_ms) {
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, failed});
  draft.add(RateLimitKept{instance.id, failed,
                          draft.stamp.at_ms + static_cast<std::int64_t>(delay_ms),
                          add_saturating(draft.stamp.elapsed_ms, delay_ms)});
}

// A window of the tenant's is full. No attempt was made, and another target would be paid from the
// same purse.
void hold_for_tenant(Draft& draft, const Instance& instance, const AwaitingModel& phase,
                     const ModelFailed& event) {
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, phase.failed_attempts});
  const std::uint64_t delay_ms =
      std::clamp<std::uint64_t>(event.retry_after_ms.value_or(0), draft.rules.tenant_wait_min_ms,
                                draft.rules.tenant_wait_max_ms);
  draft.add(BudgetHeld{instance.id, BudgetUnit::tenant, 0, 0,
                       draft.stamp.at_ms + static_cast<std::int64_t>(delay_ms),
                       add_saturating(draft.stamp.elapsed_ms, delay_ms)});
}

bool has_session(const Draft& draft, const Instance& instance, const AwaitingModel& asked) {
  return find_session(instance, provider_of(draft.state.targets.at(asked.target).literal)) !=
         nullptr;
}

void give_up(Draft& draft, const Instance& instance, const ModelFailed& event) {
  // It had nothing to add to what it said before.
  if (event.kind == FailureKind::empty && instance.last_text && !has_news(instance)) {
    draft.add(StepEnded{instance.id, instance.open_step, YieldReason::end_turn, 0});
    if (has_nodes(draft.state)) return end_turn_of(draft, instance.id);
    draft.add(InstanceRested{instance.id});
    if (others_active(draft.state, instance.id)) return;
    return draft.stop(RunStatus::done, StopReason::end_turn, "the last reply was empty");
  }
  fail_instance(draft, instance, RunStatus::failed, stop_reason_of(event.category),
                describe(instance.failures, draft.state.targets));
}

}  // namespace

bool sum_up_for_next(Draft& draft, const Instance& instance) {
  const ModelTarget& target = draft.state.targets[instance.target];
  const Reservation reservation = reserve(draft, instance, target, draft.rules.summary_tokens);
  if (reservation.held || instance.transcript.empty()) return false;
  CompactContext effect;
  effect.instance = instance.id;
  effect.to = instance.transcript.size();
  effect.target = instance.target;
  effect.reserved = reservation.usage;
  draft.start(effect);
  return true;
}

void call_model(Draft& draft, const Instance& instance) {
  PAWL_ASSERT(instance.target < draft.state.targets.size());
  if (begins_compaction(draft, instance)) return;
  const std::uint64_t context = instance.context_tokens;
  const auto target = fitting_target(draft, instance, context);
  if (!target) return stop_for_context(draft, instance, context);
  if (*target != instance.target) draft.add(TargetChanged{instance.id, *target});
  const ModelTarget& model = draft.state.targets[*target];
  Reservation reservation = reserve(draft, instance, model, wanted_output(draft, instance, model));
  if (reservation.held) return hold(draft, instance, reservation);
  const std::uint64_t steps = draft.state.limits.steps;
  CallModel effect;
  effect.instance = instance.id;
  effect.step = instance.open_step;
  effect.attempt = instance.attempts + 1;
  effect.position = has_nodes(draft.state) ? instance.node_position : instance.position;
  effect.steps_left = steps - std::min(steps, draft.state.tally.steps);
  effect.reserved = reservation.usage;
  effect.target = *target;
  effect.output_tokens = reservation.output_tokens;
  draft.start(effect);
}

void take_failure(Draft& draft, const Instance& instance, const AwaitingModel& asked,
                  const ModelFailed& event) {
  const bool lost = event.kind == FailureKind::session_lost && has_session(draft, instance, asked);
  if (lost) draft.add(SessionLost{instance.id, asked.target});
  if (draft.ending()) return;
  if (const auto bound = draft.crossed()) return draft.stop_at(*bound);
  if (event.kind == FailureKind::budget) return hold_for_tenant(draft, instance, asked, event);
  ModelFailure failure;
  failure.kind = event.kind;
  failure.category = event.category;
  // Not being asked at all is no attempt.
  const bool skipped = event.kind == FailureKind::circuit_open;
  failure.failed_attempts = asked.failed_attempts + (skipped ? 0 : 1);
  failure.retry_after_ms = event.retry_after_ms;
  if (event.output == Presence::present) failure.output = ModelFailure::Output::began;
  const auto next = target_after(draft.state, instance, asked.target);
  if (next) failure.next = ModelFailure::Next::there_is;
  if (failure.kind == FailureKind::session_lost && !lost) {
    failure.kind = FailureKind::permanent;  // There is none that could be left out next time.
  }
  if (skipped && instance.attempts >= draft.rules.attempts_with_skips_max) {
    return give_up(draft, instance, event);
  }
  const NextMove move = draft.rules.next_move(draft.state.retry, failure);
  switch (move.kind) {
    case NextMove::Kind::give_up:
      return give_up(draft, instance, event);
    case NextMove::Kind::next_target:
      PAWL_ASSERT(next.has_value());
      return go_on_with(draft, instance, *next);
    case NextMove::Kind::retry:
      return retry_in(draft, instance, failure.failed_attempts, move.delay_ms);
    case NextMove::Kind::park:
      return park(draft, instance, failure.failed_attempts, move.delay_ms);
  }
}

void take_cut(Draft& draft, const Instance& instance, const Compacting& phase, CutBy by,
              std::uint64_t summary_tokens) {
  if (draft.ending()) return;
  cut(draft, instance, cut_at(instance, phase.to), by, summary_tokens);
  if (const auto bound = draft.crossed()) return draft.stop_at(*bound);
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, phase.failed_attempts});
  call_again(draft, instance);
}

}  // namespace pawl
