// Shows that the simulator is not blind: each bug that can be planted is found.
#include <doctest/doctest.h>

#include "pawl/sim/simulator.h"

namespace pawl::sim {
namespace {

constexpr std::uint64_t kSeedsMax = 4'000;

TEST_CASE("every planted bug is found") {
  for (const PlantedBugName& planted : kPlantedBugNames) {
    CAPTURE(planted.name);
    HistoryOptions options;
    options.bug = planted.bug;
    std::optional<std::string> violation;
    for (; options.seed <= kSeedsMax && !violation; ++options.seed) {
      violation = run_history(options).violation;
    }
    REQUIRE(violation);
    MESSAGE(planted.name << " is found by seed " << options.seed - 1 << ": " << *violation);
    options.bug = PlantedBug::none;
    --options.seed;
    CHECK_FALSE(run_history(options).violation);  // it is the bug that is found, not the seed
  }
}

}  // namespace
}  // namespace pawl::sim
