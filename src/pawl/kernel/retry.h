// Retry and backoff as arithmetic: no clock, no random source.
#pragma once

#include <cstdint>
#include <optional>

#include "pawl/limits.h"

namespace pawl {

inline constexpr std::uint64_t kRetryAfterMaxMs = 3'600'000;
// A wait of this length is not sat out: the run leaves memory, and is taken up again when it is
// over.
inline constexpr std::uint64_t kParkAfterMs = 60'000;

inline std::uint32_t& attempts_of(RetryPolicy& policy) {
  return policy.attempts_max;
}
inline std::uint32_t& failover_after(RetryPolicy& policy) {
  return policy.attempts_before_failover;
}

// policy_violation, quota_exceeded, kernel_internal and validation_error are never retried: the
// same request would fail the same way.
enum class Retryable : std::uint8_t { never, later };
Retryable retryable(ErrorCategory category);

// How long to wait before the attempt after `failed_attempts` failures; nullopt: give up. What the
// provider asks for is a minimum, bounded by kRetryAfterMaxMs.
std::optional<std::uint64_t> retry_delay_ms(const RetryPolicy& policy, ErrorCategory category,
                                            std::uint32_t failed_attempts,
                                            std::optional<std::uint64_t> retry_after_ms);

// What becomes of a step after a failed attempt:
//
//   permanent                      it fails
//   model_not_found, unsupported,  the next target; without one it fails
//   empty
//   circuit_open, rate_limited       the next target; without one it waits, as long as it was told
//   to transient, overloaded          the same target, attempts_before_failover times, then the
//   next;
//                                  the last one attempts_max times. Once text has been shown, only
//                                  the same target, unless the policy says otherwise
//   session_lost                   at once, with the whole conversation
struct ModelFailure {
  FailureKind kind = FailureKind::transient;
  ErrorCategory category = ErrorCategory::llm_error;
  std::uint32_t failed_attempts = 0;  // at this target, this one included
  std::optional<std::uint64_t> retry_after_ms;
  enum class Output : std::uint8_t { none, began } output = Output::none;
  enum class Next : std::uint8_t { none, there_is } next = Next::none;
};
struct NextMove {
  enum class Kind : std::uint8_t { give_up, retry, next_target, park } kind = Kind::give_up;
  std::uint64_t delay_ms = 0;
};
NextMove next_move(const RetryPolicy& policy, const ModelFailure& failure);

}  // namespace pawl
