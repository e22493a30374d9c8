// One attempt at a step: which model is asked, with how much room, for how much money; and what
// follows when it fails.
#include "pawl/kernel/context.h"
#include "pawl/kernel/draft.h"

namespace pawl {
namespace {

// Output set aside for a call whose outcome may be lost, where no budget asks for more.
constexpr std::uint64_t kReservedOutputTokens = 4096;
// A reply with less room than this is not worth asking for.
constexpr std::uint64_t kOutputTokensMin = 256;
constexpr std::uint64_t kSummaryTokens = 2048;
constexpr std::size_t kBackReferenceBytesMax = 64;

struct Reservation {
  Usage usage;
  std::uint64_t output_tokens = 0;  // the bound that is sent; 0: none
  std::uint64_t needed_pico = 0;
  std::uint64_t left_pico = 0;
  bool affordable = true;
};

// Writing a cache may cost more than reading the input: the dearer one is set aside.
Usage input_usage(std::uint64_t context, const Prices& prices) {
  Usage usage;
  (prices.cache_creation > prices.input ? usage.cache_creation_tokens : usage.input_tokens) =
      context;
  return usage;
}

std::uint64_t wanted_output(const Draft& draft, const ModelTarget& target) {
  const std::uint64_t most = target.output_tokens;
  const std::uint64_t asked = draft.output_tokens();
  if (asked == 0) return most == 0 ? kReservedOutputTokens : most;
  return most == 0 ? asked : std::min(asked, most);
}

// With a bound on money, a call is made only if the most it can cost is left: the reply is given as
// much room as there is money for.
Reservation reserve(const Draft& draft, const ModelTarget& target, std::uint64_t context,
                    std::uint64_t wanted) {
  Reservation reservation;
  const Limits& limits = draft.limits();
  reservation.output_tokens = draft.output_tokens();
  if (limits.cost_pico == 0) {
    reservation.usage.input_tokens = context;
    reservation.usage.output_tokens = std::min(wanted, kReservedOutputTokens);
  } else {
    reservation.usage = input_usage(context, target.prices);
    const std::uint64_t spent = add_saturating(draft.tally.cost_pico, draft.reserved_pico());
    const std::uint64_t left = limits.cost_pico - std::min(limits.cost_pico, spent);
    const std::uint64_t input = cost_pico(reservation.usage, target.prices);
    const std::uint64_t price = target.prices.output;
    const std::uint64_t room = left - std::min(left, input);
    const std::uint64_t output = price == 0 ? wanted : std::min(wanted, room / price);
    const std::uint64_t least = std::min(wanted, kOutputTokensMin);
    reservation.left_pico = left;
    reservation.needed_pico = add_saturating(input, multiply_saturating(least, price));
    reservation.affordable = reservation.needed_pico <= left && (left > 0 || input == 0);
    reservation.usage.output_tokens = output;
    reservation.output_tokens = output;
  }
  if (limits.ask_cost_pico > 0 && draft.tally.cost_pico >= limits.ask_cost_pico) {
    reservation.affordable = false;
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
  if (!reservation.affordable) {
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

void give_up(Draft& draft, const Instance& instance, const AwaitingModel& phase,
             const ModelFailed& event) {
  // It had nothing to add to what it said before.
  if (event.kind == FailureKind::empty && instance.last_text && instance.waiting_messages.empty()) {
    draft.add(StepEnded{instance.id, instance.open_step, YieldReason::end_turn, 0});
    draft.add(InstanceRested{instance.id});
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
  const Reservation reservation = reserve(draft, model, context, wanted_output(draft, model));
  if (!reservation.affordable) {
    return draft.add(BudgetHeld{instance.id, reservation.needed_pico, reservation.left_pico});
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
  return limits;
}

std::vector<ModelTarget> targets_of(const RunStarted& event) {
  if (!event.targets.empty()) return event.targets;
  return {ModelTarget{event.model, event.prices, 0, 0}};
}

}  // namespace pawl
