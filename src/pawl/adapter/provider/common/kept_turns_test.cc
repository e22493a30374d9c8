#include "pawl/adapter/provider/common/kept_turns.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "pawl/adapter/provider/common/kept_growth_test.h"

namespace pawl::provider {
namespace {

std::uint64_t growth_count() {
  const char* const text = std::getenv("PAWL_GROWTHS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 2'000;
}

// PAWL_GROWTHS=n grows n conversations; PAWL_SEED=n repeats one.
TEST_CASE("a request that goes on with what was kept is the one that is written anew") {
  const std::vector<WireUnderTest> wires = wires_under_test();
  const char* const one = std::getenv("PAWL_SEED");
  const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 0;
  const std::uint64_t count = one != nullptr ? 1 : growth_count();
  GrowthCounts counts;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string fault = KeptGrowth(seed, wires, counts).fault();
    REQUIRE_MESSAGE(fault.empty(), "PAWL_SEED=" << seed << " " << fault);
  }
  MESSAGE(count << " conversations, " << counts.requests << " requests, " << counts.reused
                << " with bytes of an earlier one, " << counts.refused << " refused, "
                << counts.cuts << " cuts, " << counts.failovers << " elsewhere, " << counts.sessions
                << " sessions");
  if (one != nullptr) return;
  CHECK(counts.reused > counts.requests / 4);
  CHECK(counts.refused > 0);
  CHECK(counts.cuts > 0);
  CHECK(counts.failovers > 0);
  CHECK(counts.sessions > 0);
}

}  // namespace
}  // namespace pawl::provider
