#include "pawl/kernel/sampling.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("what is set over something else holds, and the rest stays") {
  SamplingOptions base;
  base.max_output_tokens = 100;
  base.temperature_milli = 700;
  base.effort = ReasoningEffort::low;
  SamplingOptions over;
  over.max_output_tokens = 5;
  over.stream = Streaming::off;

  const SamplingOptions both = merged(base, over);

  CHECK(both.max_output_tokens == 5);
  CHECK(both.temperature_milli == 700);
  CHECK(both.effort == ReasoningEffort::low);
  CHECK(both.stream == Streaming::off);
  CHECK(merged(base, {}) == base);
}

}  // namespace
}  // namespace pawl
