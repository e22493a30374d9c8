#include "pawl/limits.h"

#include <array>

namespace pawl {

bool is_raise(const Limits& from, const Limits& to) {
  using Bound = std::uint64_t Limits::*;
  static constexpr std::array<Bound, 8> kBounds = {
      &Limits::steps,  &Limits::model_calls, &Limits::tool_calls, &Limits::time_ms,
      &Limits::tokens, &Limits::bytes_in,    &Limits::bytes_out,  &Limits::branches};
  static constexpr std::array<Bound, 4> kBudgets = {&Limits::cost_pico, &Limits::ask_cost_pico,
                                                    &Limits::budget_tokens, &Limits::budget_ms};
  for (const Bound bound : kBounds) {
    if (to.*bound < from.*bound) return false;
  }
  for (const Bound budget : kBudgets) {  // 0: none
    const bool none = to.*budget == 0;
    if (!none && (from.*budget == 0 || to.*budget < from.*budget)) return false;
  }
  return true;
}

std::optional<StopReason> crossed(const Tally& tally, const Limits& limits) {
  if (tally.active_ms > limits.time_ms) return StopReason::time;
  if (total_tokens(tally.usage) > limits.tokens) return StopReason::tokens;
  if (tally.bytes_in > limits.bytes_in) return StopReason::bytes_in;
  if (tally.bytes_out > limits.bytes_out) return StopReason::bytes_out;
  if (tally.branches > limits.branches) return StopReason::branches;
  return std::nullopt;
}

std::optional<StopReason> exhausted(const Tally& tally, const Limits& limits) {
  if (tally.model_calls >= limits.model_calls) return StopReason::model_calls;
  if (tally.active_ms >= limits.time_ms) return StopReason::time;
  if (total_tokens(tally.usage) >= limits.tokens) return StopReason::tokens;
  return crossed(tally, limits);
}

std::optional<StopReason> exhausted_for_step(const Tally& tally, const Limits& limits) {
  if (tally.steps >= limits.steps) return StopReason::steps;
  return exhausted(tally, limits);
}

}  // namespace pawl
