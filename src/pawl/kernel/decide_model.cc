// One attempt at a step: which model is asked, with how much room, for how much money; and what
// follows when it fails.
#include "pawl/kernel/context.h"
#include "pawl/kernel/draft.h"

namespace pawl {
namespace {

constexpr std::uint64_t kSummaryTokens = 2048;
constexpr std::size_t kBackReferenceBytesMax = 64;
// Attempts of one step that were skipped after recent failures count for no limit: with so many the
// step fails all the same.
constexpr std::uint32_t kAttemptsWithSkipsMax = 1'000;
// A full window is asked again no sooner and no later than this.
constexpr std::uint64_t kTenantWaitMinMs = 1'000;
constexpr std::uint64_t kTenantWaitMaxMs = 31ULL * 86'400'000;

struct Reservation {
  Usage usage;
  std::uint64_t output_tokens = 0;      // the bound that is sent; 0: none
  std::optional<BudgetHeld> held = {};  // the budget that does not allow it

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

std::uint64_t wanted_output(const Draft& draft, const ModelTarget& target) {
  const std::uint64_t most = target.output_tokens;
  const std::uint64_t asked = draft.output_tokens();
  if (asked == 0) return most == 0 ? kReservedOutputTokens : most;
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
void keep_within(Reservation& reservation, const Purse& purse, std::uint64_t wanted) {
  const std::uint64_t room = purse.left - std::min(purse.left, purse.input);
  std::uint64_t& output = reservation.usage.output_tokens;
  if (purse.price > 0) output = std::min(output, room / purse.price);
  reservation.output_tokens = output;
  const std::uint64_t least = std::min(wanted, kOutputTokensMin);
  const std::uint64_t needed = add_saturating(purse.input, multiply_saturating(least, purse.price));
  const bool affordable = needed <= purse.left && (purse.left > 0 || purse.input == 0);
  if (!affordable) {
    reservation.hold({kRootInstance, purse.unit, needed, purse.left, 0, 0});
  }
}

std::uint64_t left_of(std::uint64_t bound, std::uint64_t spent, std::uint64_t reserved) {
  return bound - std::min(bound, add_saturating(spent, reserved));
}

Reservation reserve(const Draft& draft, const ModelTarget& target, std::uint64_t context,
                    std::uint64_t wanted) {
  Reservation reservation;
  const Limits& limits = draft.limits();
  const Tally& tally = draft.tally;
  reservation.output_tokens = draft.output_tokens();
  if (limits.cost_pico == 0 && limits.budget_tokens == 0) {
    reservation.usage.input_tokens = context;
    reservation.usage.output_tokens = std::min(wanted, kReservedOutputTokens);
  } else {
    const Rates rates = worst_rates(target.prices, context);
    reservation.usage = input_usage(context, rates);
    const std::uint64_t input_pico = cost_pico(reservation.usage, rates);
    reservation.usage.output_tokens = wanted;
    const Draft::Reserved reserved = draft.reserved();
    if (limits.cost_pico > 0) {
      const std::uint64_t left = left_of(limits.cost_pico, tally.cost_pico, reserved.pico);
      keep_within(reservation, {BudgetUnit::money, left, input_pico, rates.output}, wanted);
    }
    if (limits.budget_tokens > 0) {
      const std::uint64_t left =
          left_of(limits.budget_tokens, total_tokens(tally.usage), reserved.tokens);
      keep_within(reservation, {BudgetUnit::tokens, left, context, 1}, wanted);
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

bool is_full(const Draft& draft, const ModelTarget& target, std::uint64_t context) {
  const std::uint64_t ratio = draft.compaction().ratio_percent;
  return ratio > 0 && target.context_tokens > 0 &&
         multiply_saturating(context, 100) >= multiply_saturating(target.context_tokens, ratio);
}

// True: the step goes on when the summary is there. Without the money for one the conversation is
// shortened on the spot.
bool begins_compaction(Draft& draft, const Instance& instance, const Attempt& attempt) {
  const ModelTarget& target = draft.targets()[attempt.target];
  const bool done = instance.compacted_in_step == attempt.step &&
                    attempt.compact == Attempt::Compact::once_a_step;
  const std::uint64_t context = draft.context_of(instance);
  if (done || !is_full(draft, target, context)) return false;
  const auto cut = plan_cut(instance, draft.compaction().keep_messages);
  if (!cut) return false;
  const Reservation reservation = reserve(draft, target, context, kSummaryTokens);
  if (reservation.held) {
    const std::uint64_t after = context_after_cut(draft.state, instance, context, *cut, 0);
    draft.add(TranscriptCut{instance.id, cut->to, CutBy::trim, cut->removed, after});
    draft.set_context(instance.id, after);
    return false;
  }
  CompactContext effect;
  effect.effect = draft.mint_effect();
  effect.instance = instance.id;
  effect.to = cut->to;
  effect.target = attempt.target;
  effect.reserved = reservation.usage;
  draft.effects.push_back(effect);
  return true;
}

// The first target from `from` on whose context is large enough.
std::optional<std::uint32_t> fitting_target(const Draft& draft, std::uint32_t from,
                                            std::uint64_t context) {
  for (std::uint32_t i = from; i < draft.targets().size(); ++i) {
    const std::uint64_t most = draft.targets()[i].context_tokens;
    if (most == 0 || context <= most) return i;
  }
  return std::nullopt;
}

void stop_for_context(Draft& draft, const ModelTarget& target, std::uint64_t context) {
  draft.stop(RunStatus::failed, StopReason::context,
             "context: " + std::to_string(context) + " tokens, and " + target.literal + " takes " +
                 std::to_string(target.context_tokens));
}

void go_on_with(Draft& draft, const Instance& instance, std::uint32_t target) {
  draft.add(TargetChanged{instance.id, target});
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, 0});
  call_again(draft, instance, {0, 1, target});
}

void retry_in(Draft& draft, const Instance& instance, std::uint32_t failed,
              std::uint64_t delay_ms) {
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, failed});
  if (delay_ms == 0) return call_again(draft, instance, {0, 1});
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
  const std::uint64_t delay_ms = std::clamp<std::uint64_t>(event.retry_after_ms.value_or(0),
                                                           kTenantWaitMinMs, kTenantWaitMaxMs);
  draft.add(BudgetHeld{instance.id, BudgetUnit::tenant, 0, 0,
                       draft.stamp.at_ms + static_cast<std::int64_t>(delay_ms),
                       add_saturating(draft.stamp.elapsed_ms, delay_ms)});
}

void give_up(Draft& draft, const Instance& instance, const AwaitingModel& phase,
             const ModelFailed& event) {
  // It had nothing to add to what it said before.
  if (event.kind == FailureKind::empty && instance.last_text && instance.waiting_messages.empty()) {
    draft.add(StepEnded{instance.id, instance.open_step, YieldReason::end_turn, 0});
    draft.add(InstanceRested{instance.id});
    if (others_active(draft.state, instance.id)) return;
    return draft.stop(RunStatus::done, StopReason::end_turn, "the last reply was empty");
  }
  std::vector<TargetFailure> failures = instance.failures;
  add_failure(failures, phase.target, event.category, event.message);
  draft.stop(RunStatus::failed, stop_reason_of(event.category),
             describe(failures, draft.targets()));
}

}  // namespace

void call_model(Draft& draft, const Instance& instance, const Attempt& attempt) {
  PAWL_ASSERT(attempt.target < draft.targets().size());
  if (begins_compaction(draft, instance, attempt)) return;
  const std::uint64_t context = draft.context_of(instance);
  const auto target = fitting_target(draft, attempt.target, context);
  if (!target) return stop_for_context(draft, draft.targets()[attempt.target], context);
  if (*target != attempt.target) draft.add(TargetChanged{instance.id, *target});
  const ModelTarget& model = draft.targets()[*target];
  Reservation reservation = reserve(draft, model, context, wanted_output(draft, model));
  if (reservation.held) {
    reservation.held->instance = instance.id;
    return draft.add(*reservation.held);
  }
  CallModel effect;
  effect.effect = draft.mint_effect();
  effect.instance = instance.id;
  effect.step = attempt.step;
  effect.attempt = attempt.number;
  effect.position = attempt.position;
  effect.steps_left = draft.limits().steps - std::min(draft.limits().steps, draft.tally.steps);
  effect.reserved = reservation.usage;
  effect.target = *target;
  effect.output_tokens = reservation.output_tokens;
  ++draft.tally.model_calls;
  draft.effects.push_back(effect);
}

void take_failure(Draft& draft, const Instance& instance, const AwaitingModel& phase,
                  const ModelFailed& event) {
  if (draft.ending()) return;
  if (const auto bound = crossed(draft.tally, draft.limits())) return draft.stop_at(*bound);
  if (event.kind == FailureKind::budget) return hold_for_tenant(draft, instance, phase, event);
  ModelFailure failure;
  failure.kind = event.kind;
  failure.category = event.category;
  // Not being asked at all is no attempt.
  const bool asked = event.kind != FailureKind::benched;
  failure.failed_attempts = phase.failed_attempts + (asked ? 1 : 0);
  failure.retry_after_ms = event.retry_after_ms;
  if (event.output == Presence::present) failure.output = ModelFailure::Output::began;
  const bool last = phase.target + 1 >= draft.targets().size();
  if (!last) failure.next = ModelFailure::Next::there_is;
  const std::string_view provider = provider_of(draft.targets()[phase.target].literal);
  if (failure.kind == FailureKind::session_lost && find_session(instance, provider) == nullptr) {
    failure.kind = FailureKind::permanent;  // There is none that could be left out next time.
  }
  if (!asked && instance.attempts >= kAttemptsWithSkipsMax) {
    return give_up(draft, instance, phase, event);
  }
  const NextMove move = next_move(draft.retry(), failure);
  switch (move.kind) {
    case NextMove::Kind::give_up:
      return give_up(draft, instance, phase, event);
    case NextMove::Kind::next_target:
      return go_on_with(draft, instance, phase.target + 1);
    case NextMove::Kind::retry:
      return retry_in(draft, instance, failure.failed_attempts, move.delay_ms);
    case NextMove::Kind::park:
      return park(draft, instance, failure.failed_attempts, move.delay_ms);
  }
}

void take_cut(Draft& draft, const Instance& instance, const Compacting& phase, CutBy by,
              std::uint64_t replacement_tokens) {
  if (draft.ending()) return;
  const CutPlan cut = cut_at(instance, phase.to);
  const std::uint64_t after =
      context_after_cut(draft.state, instance, draft.context_of(instance), cut, replacement_tokens);
  draft.add(TranscriptCut{instance.id, cut.to, by, cut.removed, after});
  draft.set_context(instance.id, after);
  if (const auto bound = crossed(draft.tally, draft.limits())) return draft.stop_at(*bound);
  if (draft.pausing()) return draft.add(InstanceReadied{instance.id, phase.failed_attempts});
  call_again(draft, instance, {});
}

bool refers_back(const Content& text) {
  static constexpr std::array<std::string_view, 8> kPhrases = {
      "see above",          "as above",       "as stated above", "as i said",
      "as mentioned above", "answered above", "done above",      "see my previous"};
  const std::string* bytes = text.bytes();
  if (bytes == nullptr || bytes->size() > kBackReferenceBytesMax) return false;
  std::string lower = *bytes;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::any_of(kPhrases.begin(), kPhrases.end(), [&lower](std::string_view phrase) {
    return lower.find(phrase) != std::string::npos;
  });
}

Limits limits_after(const RunState& state, const Event& event) {
  if (const auto* started = std::get_if<RunStarted>(&event)) return started->limits;
  Limits limits = state.limits;
  const auto* raised = std::get_if<BudgetRaised>(&event);
  if (raised == nullptr) return limits;
  if (limits.cost_pico > 0) limits.cost_pico = add_saturating(limits.cost_pico, raised->cost_pico);
  if (limits.ask_cost_pico > 0) {
    limits.ask_cost_pico =
        add_saturating(std::max(limits.ask_cost_pico, state.tally.cost_pico), raised->cost_pico);
  }
  if (limits.budget_tokens > 0) {
    limits.budget_tokens = add_saturating(limits.budget_tokens, raised->tokens);
  }
  // Time may have run on beyond it: a raise is from now on.
  if (limits.budget_ms > 0 && raised->time_ms > 0) {
    limits.budget_ms =
        add_saturating(std::max(limits.budget_ms, state.tally.active_ms), raised->time_ms);
  }
  return limits;
}

std::vector<ModelTarget> targets_of(const RunStarted& event) {
  if (!event.targets.empty()) return event.targets;
  return {ModelTarget{event.model, event.prices, 0, 0}};
}

}  // namespace pawl
