// Shows that the simulator is not blind: each bug that can be planted is found.
#include <doctest/doctest.h>

#include "pawl/testing/sim/simulator.h"

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

// Only a driver that has let an ending run go for want of space may find another's epoch. An excuse
// for every older epoch would hide two drivers at once.
TEST_CASE("a driver that is refused because another one has its run is a violation") {
  HistoryOptions options;
  options.bug = PlantedBug::wall_clock_lease;
  bool found = false;
  for (; options.seed <= kSeedsMax / 10 && !found; ++options.seed) {
    const auto violation = run_history(options).violation;
    found = violation && violation->find("was refused to its driver") != std::string::npos &&
            violation->find("is at epoch") != std::string::npos;
  }
  CHECK(found);
}

}  // namespace
}  // namespace pawl::sim
