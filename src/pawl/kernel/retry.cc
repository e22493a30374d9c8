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

namespace {

NextMove wait_for(const RetryPolicy& policy, const ModelFailure& failure) {
  // It was asked to wait: that it may be asked again is out of the question.
  const bool told = failure.kind != FailureKind::transient;
  const auto delay = retry_delay_ms(policy, told ? ErrorCategory::llm_error : failure.category,
                                    failure.failed_attempts, failure.retry_after_ms);
  if (!delay) return {};
  return {*delay >= kParkAfterMs ? NextMove::Kind::park : NextMove::Kind::retry, *delay};
}

bool may_move_on(const RetryPolicy& policy, const ModelFailure& failure) {
  if (failure.next == ModelFailure::Next::none) return false;
  return failure.output == ModelFailure::Output::none ||
         policy.after_output == AfterOutput::next_target;
}

}  // namespace

NextMove next_move(const RetryPolicy& policy, const ModelFailure& failure) {
  constexpr NextMove kNext{NextMove::Kind::next_target, 0};
  const bool is_last = failure.next == ModelFailure::Next::none;
  switch (failure.kind) {
    case FailureKind::permanent:
    case FailureKind::budget:  // which does not come here: it is no failure of a target
      return {};
    case FailureKind::session_lost:
      return {NextMove::Kind::retry, 0};
    case FailureKind::model_not_found:
    case FailureKind::unsupported:
    case FailureKind::empty:
      return is_last ? NextMove{} : kNext;
    case FailureKind::circuit_open:
    case FailureKind::rate_limited:
      return is_last ? wait_for(policy, failure) : kNext;
    case FailureKind::transient:
    case FailureKind::overloaded:
      break;
  }
  if (failure.kind == FailureKind::transient && retryable(failure.category) == Retryable::never) {
    return {};
  }
  if (may_move_on(policy, failure) && failure.failed_attempts >= policy.attempts_before_failover)
    return kNext;
  return wait_for(policy, failure);
}

std::string_view name(AfterOutput value) {
  return value == AfterOutput::next_target ? "next_target" : "same_target";
}

}  // namespace pawl
