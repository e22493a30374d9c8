#include <doctest/doctest.h>

#include <set>
#include <variant>

#include "pawl/testing/sim/simulator.h"

namespace pawl::sim {
namespace {

template <class Variant, std::size_t I = 0, class Counts>
void check_met(const Counts& counts, const std::set<std::string_view>& never) {
  if constexpr (I < std::variant_size_v<Variant>) {
    const std::string_view name = std::variant_alternative_t<I, Variant>::kName;
    CAPTURE(name);
    CHECK((counts[I] > 0) == !never.contains(name));
    check_met<Variant, I + 1>(counts, never);
  }
}

TEST_CASE("no history of many seeds breaks a promise, and trouble of every kind was met") {
  SimulationOptions options;
  options.history.seed = 1801;  // Results come late in four of these, and in few of others.
  options.seeds = 400;
  const SimulationReport report = simulate(options, nullptr);
  if (report.failure) {
    for (const std::string& line : report.failure->trace) MESSAGE(line);
    FAIL(report.failure->violation << "; repeat: pawl sim "
                                   << arguments_of(report.failure->shrunk));
  }
  CHECK(report.histories == 400);
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    CAPTURE(kind);
    CHECK(report.faults[kind] > 0);
  }
  // What no history comes by is not simulated. Those have a reason.
  // The simulated models have no sessions and no price tiers. No simulated charter has phases or
  // agents: kernel/flow_random_test.cc and kernel/agent_forest_test.cc have those.
  check_met<Event>(report.met.events, {"instance_spawned", "unrecognised", "child_asked",
                                       "child_reported", "child_waits", "child_stirred",
                                       "parent_answered", "phase_controlled", "event_received"});
  check_met<Decision>(
      report.met.decisions,
      {"instance_born", "instance_ceded", "session_lost", "cost_added", "child_admitted",
       "child_answered", "child_left", "phase_began", "phase_ended", "phases_reset",
       "checkpoint_asked", "seat_taken", "seat_left", "step_discovered", "flow_ended",
       "work_item_set", "ending_held", "seat_called"});
  CHECK(report.forks > 0);
  MESSAGE(report.events << " events, " << report.steps << " steps, " << report.crashes
                        << " crashes, " << report.forks << " forks, " << report.effects
                        << " effects");
}

TEST_CASE("the same seed is the same history, and another seed is another") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    HistoryOptions options;
    options.seed = seed;
    const HistoryReport once = run_history(options);
    const HistoryReport twice = run_history(options);
    CHECK(once.hash == twice.hash);
    CHECK(once.struck == twice.struck);
    CHECK(once.events == twice.events);
    options.seed = seed + 1000;
    CHECK(run_history(options).hash != once.hash);
  }
}

TEST_CASE("watching a history does not change it") {
  HistoryOptions options;
  options.seed = 3;
  const HistoryReport silent = run_history(options);
  options.trace = HistoryOptions::Trace::on;
  const HistoryReport told = run_history(options);
  CHECK(told.hash == silent.hash);
  CHECK(!told.trace.empty());
}

TEST_CASE("a simulation ends when it is told to") {
  SimulationOptions options;
  options.seeds = 1'000'000;
  const SimulationReport report =
      simulate(options, [](const SimulationReport& soFar) { return soFar.histories < 3; });
  CHECK(report.histories == 3);
}

TEST_CASE("a failure is shrunk to a history that fails as well, and its arguments say how") {
  // A failure may need all of its runs; not all of these do.
  bool fewer_runs = false;
  for (const std::uint64_t seed : {100U, 300U, 500U, 700U}) {
    CAPTURE(seed);
    SimulationOptions options;
    options.history.seed = seed;
    options.history.bug = PlantedBug::blind_rerun;
    options.seeds = 2'000;
    const SimulationReport report = simulate(options, nullptr);
    REQUIRE(report.failure);
    const Failure& failure = *report.failure;
    CHECK(failure.faults_left < failure.faults_found);
    CHECK(failure.shrunk.runs <= failure.as_found.runs);
    fewer_runs = fewer_runs || failure.shrunk.runs < failure.as_found.runs;
    CHECK(run_history(failure.shrunk).violation == failure.violation);
    CHECK(failure.trace.back().find("VIOLATION") != std::string::npos);
    CHECK(arguments_of(failure.shrunk).find("--faults ") != std::string::npos);
  }
  CHECK(fewer_runs);
}

}  // namespace
}  // namespace pawl::sim
