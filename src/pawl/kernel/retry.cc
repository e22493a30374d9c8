#include "pawl/kernel/retry.h"

#include <algorithm>

namespace pawl {
namespace {

constexpr std::uint32_t kDoublingsMax = 30;

}  // namespace

Retryable retryable(ErrorCategory category) {
  switch (category) {
    case ErrorCategory::llm_error:
    case ErrorCategory::tool_error:
    case ErrorCategory::timeout:
    case ErrorCategory::network_error:
      return Retryable::later;
    case ErrorCategory::policy_violation:
    case ErrorCategory::quota_exceeded:
    case ErrorCategory::kernel_internal:
    case ErrorCategory::validation_error:
      return Retryable::never;
  }
  return Retryable::never;
}

std::optional<std::uint64_t> retry_delay_ms(const RetryPolicy& policy, ErrorCategory category,
                                            std::uint32_t failed_attempts,
                                            std::optional<std::uint64_t> retry_after_ms) {
  if (retryable(category) == Retryable::never) return std::nullopt;
  if (failed_attempts >= policy.attempts_max) return std::nullopt;
  const std::uint32_t doublings =
      std::min(failed_attempts > 0 ? failed_attempts - 1 : 0, kDoublingsMax);
  const std::uint64_t delay = std::min(
      policy.delay_max_ms, std::min<std::uint64_t>(policy.first_delay_ms, UINT32_MAX) << doublings);
  return std::max(delay, std::min(retry_after_ms.value_or(0), kRetryAfterMaxMs));
}

}  // namespace pawl
