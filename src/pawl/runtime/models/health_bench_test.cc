#include "pawl/runtime/models/health_bench.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

PhaseFailed failure(FailureKind kind, std::optional<std::uint64_t> retry_after_ms = std::nullopt) {
  PhaseFailed failed;
  failed.kind = kind;
  failed.retry_after_ms = retry_after_ms;
  return failed;
}

const std::string kTarget = "a/x";

// Fails now, in a call that began now.
void fail(HealthBench& bench, std::int64_t now_ms, FailureKind kind = FailureKind::transient) {
  bench.failed(kTarget, failure(kind), now_ms, now_ms);
}

}  // namespace

TEST_CASE("two failures in a row bench for 5 s, each further one for twice as long, to 5 min") {
  HealthBench bench;
  std::int64_t now_ms = 1'000;
  fail(bench, now_ms);
  CHECK(bench.benched_ms(kTarget, now_ms) == 0);
  std::vector<std::uint64_t> benches;
  for (int i = 0; i < 9; ++i) {
    fail(bench, now_ms);
    benches.push_back(bench.benched_ms(kTarget, now_ms));
    now_ms += static_cast<std::int64_t>(benches.back());
    CHECK(bench.benched_ms(kTarget, now_ms - 1) == 1);
    CHECK(bench.benched_ms(kTarget, now_ms) == 0);
  }
  CHECK(benches == std::vector<std::uint64_t>{5'000, 10'000, 20'000, 40'000, 80'000, 160'000,
                                              300'000, 300'000, 300'000});
}

TEST_CASE("a success forgets the failures before it") {
  HealthBench bench;
  fail(bench, 0);
  bench.succeeded(kTarget);
  fail(bench, 1);
  CHECK(bench.benched_ms(kTarget, 1) == 0);
  fail(bench, 2);
  CHECK(bench.benched_ms(kTarget, 2) == 5'000);
  bench.succeeded(kTarget);
  CHECK(bench.benched_ms(kTarget, 2) == 0);
}

TEST_CASE("what is the request's fault benches nobody") {
  for (const FailureKind kind : {FailureKind::permanent, FailureKind::unsupported,
                                 FailureKind::model_not_found, FailureKind::session_lost}) {
    HealthBench bench;
    for (int i = 0; i < 5; ++i) fail(bench, i, kind);
    CHECK(bench.benched_ms(kTarget, 5) == 0);
  }
  for (const FailureKind kind : {FailureKind::transient, FailureKind::overloaded,
                                 FailureKind::rate_limited, FailureKind::empty}) {
    HealthBench bench;
    fail(bench, 0, kind);
    fail(bench, 0, kind);
    CHECK(bench.benched_ms(kTarget, 0) == 5'000);
  }
}

TEST_CASE("a provider that says when to come back is taken at its word, at once") {
  HealthBench bench;
  bench.failed(kTarget, failure(FailureKind::rate_limited, 1'234), 0, 100);
  CHECK(bench.benched_ms(kTarget, 100) == 1'234);
  CHECK(bench.benched_ms("a/y", 100) == 0);
  bench.failed(kTarget, failure(FailureKind::rate_limited, ~0ULL), 0, 100);
  CHECK(bench.benched_ms(kTarget, 100) == static_cast<std::uint64_t>(kBenchAskedMaxMs));
}

TEST_CASE("calls that were under way together count as one failure") {
  HealthBench bench;
  for (int i = 0; i < 8; ++i) bench.failed(kTarget, failure(FailureKind::transient), 0, 100);
  CHECK(bench.benched_ms(kTarget, 100) == 5'000);
  fail(bench, 6'000);
  CHECK(bench.benched_ms(kTarget, 6'000) == 10'000);
}

TEST_CASE("the number of targets that are remembered is bounded") {
  HealthBench bench;
  for (std::size_t i = 0; i < kBenchTargetsMax * 2; ++i) {
    bench.failed("a/" + std::to_string(i), failure(FailureKind::rate_limited, 60'000), 0, 0);
  }
  std::size_t benched = 0;
  for (std::size_t i = 0; i < kBenchTargetsMax * 2; ++i) {
    if (bench.benched_ms("a/" + std::to_string(i), 0) > 0) ++benched;
  }
  CHECK(benched == kBenchTargetsMax);
}

}  // namespace pawl
