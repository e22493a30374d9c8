#include "pawl/surface/cli/room_options.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

RunState a_state() {
  RunState state;
  state.limits.steps = 50;
  state.tally.steps = 50;
  state.limits.tokens = 1'000;
  state.tally.usage.input_tokens = 1'500;  // The last reply was larger than what was left.
  state.limits.cost_pico = 2'000'000'000'000;
  state.prices.currency = "USD";
  return state;
}

Result<Room> room(const char* option, const char* value, RunState state = a_state()) {
  Arguments arguments;
  arguments.values[option] = {value};
  return room_of(arguments, state);
}

}  // namespace

TEST_CASE("more is more than the limit, or than what was used") {
  CHECK(room("steps", "+20")->limits->steps == 70);
  CHECK(room("tokens", "+100")->limits->tokens == 1'600);
  CHECK(room("time", "+10m")->limits->time_ms == 4'200'000);
  CHECK(room("cost", "+1")->limits->cost_pico == 3'000'000'000'000);
  CHECK_FALSE(room("steps", "+20")->guards);
}

TEST_CASE("a number alone is the new limit, and no lower than the old one") {
  CHECK(room("steps", "70")->limits->steps == 70);
  CHECK_FALSE(room("steps", "50")->limits);
  CHECK(room("steps", "20").error().message ==
        "--steps 20 is less than the run has; --steps +20 gives it more");
  CHECK(room("cost", "1.00").error().message.starts_with("--cost 1.00 is less"));
}

TEST_CASE("what is no limit is refused in words") {
  CHECK(room("steps", "+many").error().message.starts_with("--steps must be an integer"));
  CHECK(room("steps", "+0").error().message.starts_with("--steps must be an integer"));
  CHECK(room("cost", "+1 EUR").error().message.find("USD") != std::string::npos);
  RunState free = a_state();
  free.limits.cost_pico = 0;
  CHECK(room("cost", "+1", free).error().message == "the run has no limit on its cost to raise");
  CHECK(room("guard", "tool_errors").error().code == ErrorCode::invalid_argument);
  CHECK(room("guard", "tool_errors=1").error().message.starts_with("--guard: \"tool_errors\""));
}

TEST_CASE("another turn has what was allowed, beside what was used") {
  Limits allowed;
  allowed.steps = 5;
  allowed.tokens = 100;
  const Limits limits = limits_of_turn(allowed, a_state());
  CHECK(limits.steps == 55);
  CHECK(limits.tokens == 1'600);
  CHECK(limits.cost_pico == a_state().limits.cost_pico);
}

TEST_CASE("guards are set by name, and can be switched off") {
  CHECK(room("guard", "tool_errors=off")->guards->tool_errors == 0);
  CHECK(room("guard", "identical_calls=9")->guards->identical_calls == 9);
  CHECK_FALSE(room("guard", "identical_calls=3")->guards);  // as it is
}

}  // namespace pawl
