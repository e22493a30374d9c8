// Which failures are tried again, and when.
#include "pawl/kernel/retry.h"

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

using Delay = std::optional<std::uint64_t>;

TEST_CASE("of the eight categories, four are tried again and four never") {
  for (const auto category : {ErrorCategory::llm_error, ErrorCategory::tool_error,
                              ErrorCategory::timeout, ErrorCategory::network_error}) {
    CHECK(retryable(category) == Retryable::later);
    TestRun run;
    run.fails(category);
    CHECK_MESSAGE(run.in<BackingOff>(), name(category));
    CHECK(run.decided() == Decisions{RetryPlanned{kRootInstance, 1, 500}});
  }
  for (const auto category : {ErrorCategory::policy_violation, ErrorCategory::quota_exceeded,
                              ErrorCategory::kernel_internal, ErrorCategory::validation_error}) {
    CHECK(retryable(category) == Retryable::never);
    TestRun run;
    run.fails(category);
    CHECK(run.decided() ==
          Decisions{EndingBegan{RunStatus::failed, stop_reason_of(category), "down (attempt 1)"}});
    run.ends();
    CHECK(run.status() == RunStatus::failed);
    CHECK(name(run.reason()) == name(category));
  }
}

TEST_CASE("the delay doubles from the first to the longest, and then stays") {
  RetryPolicy policy;
  policy.attempts_max = 100;
  const auto delay = [&](std::uint32_t failed) {
    return retry_delay_ms(policy, ErrorCategory::llm_error, failed, {});
  };
  CHECK(delay(1) == 500);
  CHECK(delay(2) == 1000);
  CHECK(delay(3) == 2000);
  CHECK(delay(4) == 4000);
  CHECK(delay(5) == 8000);
  CHECK(delay(6) == 8000);
  CHECK(delay(99) == 8000);
  CHECK(delay(100) == std::nullopt);
}

TEST_CASE("delays cannot overflow") {
  const RetryPolicy policy{UINT32_MAX, UINT64_MAX, UINT64_MAX};
  for (std::uint32_t failed = 1; failed < 100; ++failed) {
    const Delay delay = retry_delay_ms(policy, ErrorCategory::timeout, failed, UINT64_MAX);
    REQUIRE(delay);
    CHECK(*delay >= kRetryAfterMaxMs);
  }
}

TEST_CASE("what the provider asks for is a minimum, up to an hour") {
  const RetryPolicy policy;
  const auto delay = [&](Delay retry_after_ms) {
    return retry_delay_ms(policy, ErrorCategory::llm_error, 1, retry_after_ms);
  };
  CHECK(delay(0) == 500);
  CHECK(delay(499) == 500);
  CHECK(delay(501) == 501);
  CHECK(delay(60'000) == 60'000);
  CHECK(delay(kRetryAfterMaxMs + 1) == kRetryAfterMaxMs);
}

TEST_CASE("a provider's wish does not make a hopeless failure hopeful") {
  CHECK(retry_delay_ms({}, ErrorCategory::quota_exceeded, 1, 1000) == std::nullopt);
}

TEST_CASE("a run waits out each delay, gives up after the last attempt, and keeps its text") {
  TestRun run;
  run.replies({says("partial"), calls("pure")});
  run.finishes(kC1, "ok");

  for (const std::uint64_t delay : {500U, 1000U, 2000U, 4000U}) {
    run.fails(ErrorCategory::network_error);
    CHECK(wake_at(run.state()) == run->elapsed_ms + delay);
    CHECK(run.later(delay - 1).refuses(TimerFired{}) == "timer_fired, but nothing is due");
    run.later(1).ticks();
    CHECK(run.in<AwaitingModel>());
  }
  run.fails(ErrorCategory::network_error);

  CHECK(run.decided() ==
        Decisions{EndingBegan{RunStatus::failed, StopReason::network_error, "down (attempt 5)"}});
  run.ends();
  CHECK(run.output() == "partial");
}

TEST_CASE("a success in between gives the next step all its attempts again") {
  TestRun run;
  run.fails(ErrorCategory::timeout);
  run.later(500).ticks();
  run.replies({calls("pure")});
  run.finishes(kC1, "ok");

  run.fails(ErrorCategory::timeout);

  CHECK(run.decided() == Decisions{RetryPlanned{kRootInstance, 1, 1000}});
}

TEST_CASE("retry_after counts from the failure, under the run's own clock") {
  TestRun run;

  run.later(100).fails(ErrorCategory::llm_error, 7000);

  CHECK(wake_at(run.state()) == 7100);
}

TEST_CASE("waiting before the next attempt is no work, and uses up no time") {
  Limits limits;
  limits.time_ms = 1000;
  TestRun run(with_limits(limits));
  run.later(400).fails(ErrorCategory::llm_error, kParkAfterMs - 1);
  CHECK(wake_at(run.state()) == 400 + kParkAfterMs - 1);

  run.later(kParkAfterMs - 1).ticks();

  REQUIRE(run.in<AwaitingModel>());
  CHECK(run->tally.active_ms == 400);
  // The rest of its time is there for the work, and no more than it.
  CHECK(wake_at(run.state()) == 400 + kParkAfterMs - 1 + 600);
  run.later(600).ticks();
  CHECK(run.reason() == StopReason::time);
}

TEST_CASE("time counts while one instance backs off and another one works") {
  TestRun run;
  run.spawns("worker");
  run.fails(ErrorCategory::llm_error, 5'000);
  REQUIRE(run.in<BackingOff>());

  run.later(2'000).replies_as(InstanceId{2}, {says("hi")});

  CHECK(run->tally.active_ms == 2'000);
}

TEST_CASE("a provider that always asks for a wait is asked attempts_max times") {
  TestRun run;
  const std::uint32_t most = run->retry.attempts_max;
  for (std::uint32_t i = 0; i < most; ++i) {
    REQUIRE(run.in<AwaitingModel>());
    run.fails(ErrorCategory::llm_error, 10'000);
    if (run.in<BackingOff>()) run.later(10'000).ticks();
  }
  CHECK(run.ending());
  CHECK(run->tally.active_ms == 0);
}

}  // namespace
}  // namespace pawl::testing
