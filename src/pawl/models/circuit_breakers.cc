#include "pawl/models/circuit_breakers.h"

#include <algorithm>

namespace pawl {

namespace {

std::int64_t open_ms_after(std::uint32_t failures) {
  constexpr std::uint32_t kDoublingsMax = 6;  // 5 s doubled six times is above the maximum
  const std::uint32_t doublings = std::min(failures - kBreakerFailures, kDoublingsMax);
  return std::min(kBreakerFirstMs << doublings, kBreakerMaxMs);
}

}  // namespace

Blame blame_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::transient:
    case FailureKind::rate_limited:
    case FailureKind::overloaded:
    case FailureKind::empty:
      return Blame::target;
    case FailureKind::permanent:
    case FailureKind::model_not_found:
    case FailureKind::unsupported:
    case FailureKind::circuit_open:
    case FailureKind::budget:
    case FailureKind::session_lost:
      break;
  }
  return Blame::request;
}

std::uint64_t CircuitBreakers::open_ms(const std::string& target, std::int64_t now_ms) const {
  const auto found = targets_.find(target);
  if (found == targets_.end()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, found->second.until_ms - now_ms));
}

void CircuitBreakers::succeeded(const std::string& target) {
  targets_.erase(target);
}

void CircuitBreakers::failed(const std::string& target, const PhaseFailed& failure,
                             std::int64_t started_ms, std::int64_t now_ms) {
  if (blame_of(failure.kind) == Blame::request) return;
  make_room(now_ms);
  Health& health = targets_[target];
  const bool asked = failure.kind == FailureKind::rate_limited && failure.retry_after_ms;
  const bool already = health.until_ms != 0 && started_ms < health.opened_at_ms;
  if (already && !asked) return;
  if (!already) ++health.failures;
  std::int64_t for_ms = 0;
  if (asked) {
    constexpr auto kMax = static_cast<std::uint64_t>(kBreakerAskedMaxMs);
    for_ms = static_cast<std::int64_t>(std::min(*failure.retry_after_ms, kMax));
  } else if (health.failures >= kBreakerFailures) {
    for_ms = open_ms_after(health.failures);
  }
  if (for_ms == 0) return;
  health.until_ms = now_ms + for_ms;
  health.opened_at_ms = now_ms;
}

// Names of targets come from charters: whoever makes many of them must not fill the memory.
void CircuitBreakers::make_room(std::int64_t now_ms) {
  if (targets_.size() < kBreakerTargetsMax) return;
  std::erase_if(targets_, [now_ms](const auto& one) { return one.second.until_ms <= now_ms; });
  if (targets_.size() >= kBreakerTargetsMax) targets_.erase(targets_.begin());
}

}  // namespace pawl
