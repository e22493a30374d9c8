// Retry and backoff as arithmetic: no clock, no random source.
#pragma once

#include <cstdint>
#include <optional>

#include "pawl/kernel/words.h"

namespace pawl {

inline constexpr std::uint64_t kRetryAfterMaxMs = 3'600'000;
// Attempts at one pure or idempotent call, those that a crash cut short included, before a timeout
// is told to the model.
inline constexpr std::uint32_t kToolAttemptsMax = 3;

struct RetryPolicy {
  std::uint32_t attempts_max = 4;  // of one step, the first included
  std::uint64_t first_delay_ms = 500;
  std::uint64_t delay_max_ms = 8'000;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("attempts_max", self.attempts_max);
    visit("first_delay_ms", self.first_delay_ms);
    visit("delay_max_ms", self.delay_max_ms);
  }
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

// policy_violation, quota_exceeded, kernel_internal and validation_error are never retried: the
// same request would fail the same way.
enum class Retryable : std::uint8_t { never, later };
Retryable retryable(ErrorCategory category);

// How long to wait before the attempt after `failed_attempts` failures; nullopt: give up. What the
// provider asks for is a minimum, bounded by kRetryAfterMaxMs.
std::optional<std::uint64_t> retry_delay_ms(const RetryPolicy& policy, ErrorCategory category,
                                            std::uint32_t failed_attempts,
                                            std::optional<std::uint64_t> retry_after_ms);

}  // namespace pawl
