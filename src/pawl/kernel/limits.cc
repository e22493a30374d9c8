#include "pawl/kernel/limits.h"

namespace pawl {

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
