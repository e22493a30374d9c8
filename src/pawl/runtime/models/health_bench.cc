#include "pawl/runtime/models/health_bench.h"

#include <algorithm>

namespace pawl {

namespace {

std::int64_t bench_ms(std::uint32_t failures) {
  constexpr std::uint32_t kDoublingsMax = 6;  // 5 s doubled six times is above the maximum
  const std::uint32_t doublings = std::min(failures - kBenchAfterFailures, kDoublingsMax);
  return std::min(kBenchFirstMs << doublings, kBenchMaxMs);
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
    case FailureKind::benched:
    case FailureKind::budget:
    case FailureKind::session_lost:
      break;
  }
  return Blame::request;
}

std::uint64_t HealthBench::benched_ms(const std::string& target, std::int64_t now_ms) const {
  const auto found = targets_.find(target);
  if (found == targets_.end()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, found->second.until_ms - now_ms));
}

void HealthBench::succeeded(const std::string& target) {
  targets_.erase(target);
}

void HealthBench::failed(const std::string& target, const PhaseFailed& failure,
                         std::int64_t started_ms, std::int64_t now_ms) {
  if (blame_of(failure.kind) == Blame::request) return;
  make_room(now_ms);
  Health& health = targets_[target];
  const bool asked = failure.kind == FailureKind::rate_limited && failure.retry_after_ms;
  const bool already = health.until_ms != 0 && started_ms < health.benched_at_ms;
  if (already && !asked) return;
  if (!already) ++health.failures;
  std::int64_t for_ms = 0;
  if (asked) {
    constexpr auto kMax = static_cast<std::uint64_t>(kBenchAskedMaxMs);
    for_ms = static_cast<std::int64_t>(std::min(*failure.retry_after_ms, kMax));
  } else if (health.failures >= kBenchAfterFailures) {
    for_ms = bench_ms(health.failures);
  }
  if (for_ms == 0) return;
  health.until_ms = now_ms + for_ms;
  health.benched_at_ms = now_ms;
}

// Names of targets come from charters: whoever makes many of them must not fill the memory.
void HealthBench::make_room(std::int64_t now_ms) {
  if (targets_.size() < kBenchTargetsMax) return;
  std::erase_if(targets_, [now_ms](const auto& one) { return one.second.until_ms <= now_ms; });
  if (targets_.size() >= kBenchTargetsMax) targets_.erase(targets_.begin());
}

}  // namespace pawl
