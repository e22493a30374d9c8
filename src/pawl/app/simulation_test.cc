#include "pawl/app/simulation.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("a simulation of a few seeds says what happened, and the same each time") {
  SimulationRequest request;
  request.seeds = 5;
  const auto nothing = [](const SimulationTally&) {};
  const SimulationOutcome once = run_simulation(request, nothing);
  const SimulationOutcome twice = run_simulation(request, nothing);
  CHECK(!once.failure);
  CHECK(once.tally.histories == 5);
  CHECK(once.tally.events > once.tally.steps);
  CHECK(once.tally.faults > 0);
  CHECK(once.tally.hash == twice.tally.hash);
}

TEST_CASE("time ends a simulation") {
  SimulationRequest request;
  request.seeds = 1'000'000'000;
  request.time_ms = 20;
  const SimulationOutcome outcome = run_simulation(request, [](const SimulationTally&) {});
  CHECK(outcome.tally.histories < request.seeds);
}

TEST_CASE("a history without its faults is another history") {
  SimulationRequest request;
  const auto nothing = [](const SimulationTally&) {};
  const SimulationOutcome all = run_simulation(request, nothing);
  request.faults.emplace();
  const SimulationOutcome none = run_simulation(request, nothing);
  CHECK(none.tally.faults == 0);
  CHECK(none.tally.hash != all.tally.hash);
}

}  // namespace
}  // namespace pawl
