// What tests/planted switches on in the kernel, the simulator finds within these histories; without
// a switch it finds nothing.
#include <doctest/doctest.h>

#include "pawl/testing/sim/history.h"

namespace pawl::sim {
namespace {

constexpr std::uint64_t kSeeds = 250;

TEST_CASE("the simulator finds nothing in runs with several nodes") {
  HistoryOptions options;
  std::optional<std::string> violation;
  for (; options.seed <= kSeeds && !violation; ++options.seed) {
    violation = run_history(options).violation;
  }
  CHECK_MESSAGE(!violation, "seed " << options.seed - 1 << ": " << violation.value_or(""));
}

}  // namespace
}  // namespace pawl::sim
