#include "pawl/charter/charter_limits.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

std::string refusal(std::string_view key, std::string_view value) {
  Limits limits;
  const Status status = set_limit(limits, key, value);
  CHECK(limits == Limits{});
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::invalid_argument);
  return status.error().message;
}

TEST_CASE("every limit can be written") {
  const Charter charter = good_charter(
      charter_with("limits: { steps: 1, model_calls: 2, tool_calls: 3, time: 250ms, tokens: 5,\n"
                   "          bytes_in: 64KiB, bytes_out: 10MB, branches: 8 }\n"));
  CHECK(charter.limits == Limits{1, 2, 3, 250, 5, 65'536, 10'000'000, 8});
}

TEST_CASE("limits that are left out keep their defaults") {
  Limits expected;
  expected.time_ms = 60'000;
  CHECK(good_charter(charter_with("limits: { time: 60s }")).limits == expected);
  CHECK(good_charter(charter_with("limits: {}")).limits == Limits{});
}

TEST_CASE("limits below one, over their maximum or of another type are faults") {
  CHECK(
      charter_faults(charter_with(
          "limits: { steps: 0, model_calls: -1, tool_calls: 1.5, time: 0s, tokens: many,\n"
          "  bytes_in: 0, bytes_out: 2000GiB, branches: 100001 }\n")) ==
      "f:4:18: limits: \"steps\" must be an integer from 1 to 1000000, found the integer 0\n"
      "f:4:34: limits: \"model_calls\" must be an integer from 1 to 10000000, found the integer "
      "-1\n"
      "f:4:50: limits: \"tool_calls\" must be an integer from 1 to 10000000, found the decimal "
      "1.5\n"
      "f:4:61: limits: \"time\" must be a duration from 1ms to 365d, found the string \"0s\" "
      "(write it as 250ms, 30s, 10m, 1h or 2d)\n"
      "f:4:73: limits: \"tokens\" must be an integer from 1 to 1000000000000, found the string "
      "\"many\"\n"
      "f:5:13: limits: \"bytes_in\" must be a number of bytes from 1 to 1099511627776, found the "
      "integer 0 (write it as 4096, 64KiB or 10MB)\n"
      "f:5:27: limits: \"bytes_out\" must be a number of bytes from 1 to 1099511627776, found the "
      "string \"2000GiB\" (write it as 4096, 64KiB or 10MB)\n"
      "f:5:46: limits: \"branches\" must be an integer from 1 to 100000, found the integer "
      "100001\n");
  CHECK(charter_faults(charter_with("limits: { cost: 2.00 USD, step: 1 }")) ==
        "f:4:27: limits: unknown key \"step\" (did you mean \"steps\"?)\n");
  CHECK(charter_faults(charter_with("limits: 20")) ==
        "f:4:9: limits: must be a map, found the integer 20\n");
}

TEST_CASE("guards are numbers or off") {
  CHECK(good_charter(charter_with("guards: { identical_calls: off, identical_steps: 0 }")).guards ==
        Guards{0, 0, 3});
  CHECK(good_charter(charter_with("guards: { identical_calls: 2, tool_errors: 1000 }")).guards ==
        Guards{2, 3, 1000});
  CHECK(
      charter_faults(
          charter_with("guards: { identical_calls: 1, identical_steps: 1001, tool_errors: no }")) ==
      "f:4:28: guards: \"identical_calls\" must be off or an integer from 2 to 1000, found the "
      "integer 1\n"
      "f:4:48: guards: \"identical_steps\" must be off or an integer from 2 to 1000, found the "
      "integer 1001\n"
      "f:4:67: guards: \"tool_errors\" must be off or an integer from 2 to 1000, found the string "
      "\"no\"\n");
}

TEST_CASE("attempts and their delays are read and must fit together") {
  CHECK(
      good_charter(charter_with("retry: { attempts: 20, first_delay: 1s, max_delay: 1s }")).retry ==
      RetryPolicy{20, 1'000, 1'000});
  CHECK(good_charter(charter_with("retry: { attempts: 1 }")).retry == RetryPolicy{1, 500, 8'000});
  const RetryPolicy eager =
      good_charter(charter_with("retry: { failover_after: 1, after_output: next_target }")).retry;
  CHECK(eager == RetryPolicy{5, 500, 8'000, 1, AfterOutput::next_target});
  CHECK(charter_faults(charter_with("retry: { attempts: 0, first_delay: 0, max_delay: 2h }")) ==
        "f:4:20: retry: \"attempts\" must be an integer from 1 to 20, found the integer 0\n"
        "f:4:36: retry: \"first_delay\" must be a duration from 1ms to 1h, found the integer 0 "
        "(write it as 250ms, 30s, 10m, 1h or 2d)\n"
        "f:4:50: retry: \"max_delay\" must be a duration from 1ms to 1h, found the string \"2h\" "
        "(write it as 250ms, 30s, 10m, 1h or 2d)\n");
  CHECK(charter_faults(charter_with("retry: { first_delay: 10s }")) ==
        "f:4:23: retry: \"first_delay\" (10000ms) is longer than \"max_delay\" (8000ms) (give "
        "both)\n");
  CHECK(charter_faults(charter_with("retry: { first_delay: 2s, max_delay: 1s }")) ==
        "f:4:38: retry: \"first_delay\" (2000ms) is longer than \"max_delay\" (1000ms)\n");
}

TEST_CASE("a limit can be set by its name") {
  Limits limits;
  CHECK(set_limit(limits, "steps", "7"));
  CHECK(set_limit(limits, "model-calls", "8"));
  CHECK(set_limit(limits, "tool_calls", "9"));
  CHECK(set_limit(limits, "time", "10m"));
  CHECK(set_limit(limits, "tokens", "11"));
  CHECK(set_limit(limits, "bytes-in", "12KiB"));
  CHECK(set_limit(limits, "bytes-out", "13"));
  CHECK(set_limit(limits, "branches", "14"));
  CHECK(limits == Limits{7, 8, 9, 600'000, 11, 12'288, 13, 14});
}

TEST_CASE("a limit that cannot be set is refused in words and stays as it was") {
  CHECK(refusal("steps", "0") == "steps must be an integer from 1 to 1000000, not \"0\"");
  CHECK(refusal("steps", "1000001").starts_with("steps must be an integer"));
  for (const char* bad : {"", "-1", "+1", "1.0", " 1", "1 ", "0x1", "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK(refusal("model-calls", bad).starts_with("model-calls must be an integer from 1"));
  }
  CHECK(refusal("time", "0") ==
        "time must be a duration such as 250ms, 30s, 10m or 1h, from 1ms to 365d, not \"0\"");
  CHECK(refusal("bytes-in", "1K") ==
        "bytes-in must be a number of bytes such as 4096, 64KiB or 10MB, from 1 to 1099511627776, "
        "not \"1K\"");
  CHECK(refusal("stepz", "1") ==
        "there is no limit \"stepz\", only steps, model_calls, tool_calls, time, tokens, bytes_in, "
        "bytes_out, branches");
}

}  // namespace
}  // namespace pawl
