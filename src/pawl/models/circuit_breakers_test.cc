#include "pawl/models/circuit_breakers.h"

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
void fail(CircuitBreakers& breakers, std::int64_t now_ms,
          FailureKind kind = FailureKind::transient) {
  breakers.failed(kTarget, failure(kind), now_ms, now_ms);
}

}  // namespace

TEST_CASE("two failures in a row bench for 5 s, each further one for twice as long, to 5 min") {
  CircuitBreakers breakers;
  std::int64_t now_ms = 1'000;
  fail(breakers, now_ms);
  CHECK(breakers.open_ms(kTarget, now_ms) == 0);
  std::vector<std::uint64_t> open_for;
  for (int i = 0; i < 9; ++i) {
    fail(breakers, now_ms);
    open_for.push_back(breakers.open_ms(kTarget, now_ms));
    now_ms += static_cast<std::int64_t>(open_for.back());
    CHECK(breakers.open_ms(kTarget, now_ms - 1) == 1);
    CHECK(breakers.open_ms(kTarget, now_ms) == 0);
  }
  CHECK(open_for == std::vector<std::uint64_t>{5'000, 10'000, 20'000, 40'000, 80'000, 160'000,
                                               300'000, 300'000, 300'000});
}

TEST_CASE("a success forgets the failures before it") {
  CircuitBreakers breakers;
  fail(breakers, 0);
  breakers.succeeded(kTarget);
  fail(breakers, 1);
  CHECK(breakers.open_ms(kTarget, 1) == 0);
  fail(breakers, 2);
  CHECK(breakers.open_ms(kTarget, 2) == 5'000);
  breakers.succeeded(kTarget);
  CHECK(breakers.open_ms(kTarget, 2) == 0);
}

TEST_CASE("what is the request's fault open_for nobody") {
  for (const FailureKind kind : {FailureKind::permanent, FailureKind::unsupported,
                                 FailureKind::model_not_found, FailureKind::session_lost}) {
    CircuitBreakers breakers;
    for (int i = 0; i < 5; ++i) fail(breakers, i, kind);
    CHECK(breakers.open_ms(kTarget, 5) == 0);
  }
  for (const FailureKind kind : {FailureKind::transient, FailureKind::overloaded,
                                 FailureKind::rate_limited, FailureKind::empty}) {
    CircuitBreakers breakers;
    fail(breakers, 0, kind);
    fail(breakers, 0, kind);
    CHECK(breakers.open_ms(kTarget, 0) == 5'000);
  }
}

TEST_CASE("a provider that says when to come back is taken at its word, at once") {
  CircuitBreakers breakers;
  breakers.failed(kTarget, failure(FailureKind::rate_limited, 1'234), 0, 100);
  CHECK(breakers.open_ms(kTarget, 100) == 1'234);
  CHECK(breakers.open_ms("a/y", 100) == 0);
  breakers.failed(kTarget, failure(FailureKind::rate_limited, ~0ULL), 0, 100);
  CHECK(breakers.open_ms(kTarget, 100) == static_cast<std::uint64_t>(kBreakerAskedMaxMs));
}

TEST_CASE("calls that were under way together count as one failure") {
  CircuitBreakers breakers;
  for (int i = 0; i < 8; ++i) breakers.failed(kTarget, failure(FailureKind::transient), 0, 100);
  CHECK(breakers.open_ms(kTarget, 100) == 5'000);
  fail(breakers, 6'000);
  CHECK(breakers.open_ms(kTarget, 6'000) == 10'000);
}

TEST_CASE("the number of targets that are remembered is bounded") {
  CircuitBreakers breakers;
  for (std::size_t i = 0; i < kBreakerTargetsMax * 2; ++i) {
    breakers.failed("a/" + std::to_string(i), failure(FailureKind::rate_limited, 60'000), 0, 0);
  }
  std::size_t benched = 0;
  for (std::size_t i = 0; i < kBreakerTargetsMax * 2; ++i) {
    if (breakers.open_ms("a/" + std::to_string(i), 0) > 0) ++benched;
  }
  CHECK(benched == kBreakerTargetsMax);
}

}  // namespace pawl
