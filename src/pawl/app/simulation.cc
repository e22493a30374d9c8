#include "pawl/app/simulation.h"

#include <chrono>
#include <numeric>
#include <utility>

#include "pawl/testing/sim/simulator.h"

namespace pawl {
namespace {

constexpr std::uint64_t kProgressMs = 1'000;

std::uint64_t now_ms() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

SimulationTally tally_of(const sim::SimulationReport& report, std::uint64_t elapsed_ms) {
  SimulationTally tally;
  tally.histories = report.histories;
  tally.events = report.events;
  tally.steps = report.steps;
  tally.effects = report.effects;
  tally.crashes = report.crashes;
  tally.faults = std::accumulate(report.faults.begin(), report.faults.end(), std::uint64_t{0});
  tally.elapsed_ms = elapsed_ms;
  tally.hash = report.hash;
  return tally;
}

sim::SimulationOptions options_of(const SimulationRequest& request) {
  sim::SimulationOptions options;
  options.history.seed = request.seed;
  options.history.runs = request.runs;
  options.history.steps = request.steps;
  options.history.processes = request.processes;
  options.history.only_faults = request.faults;
  options.seeds = request.seeds;
  return options;
}

}  // namespace

SimulationOutcome run_simulation(const SimulationRequest& request,
                                 const std::function<void(const SimulationTally&)>& progress) {
  const std::uint64_t began = now_ms();
  std::uint64_t told = began;
  sim::SimulationReport report =
      sim::simulate(options_of(request), [&](const sim::SimulationReport& so_far) {
        const std::uint64_t now = now_ms();
        if (now - told >= kProgressMs) {
          told = now;
          progress(tally_of(so_far, now - began));
        }
        return !request.time_ms || now - began < *request.time_ms;
      });
  SimulationOutcome outcome;
  outcome.tally = tally_of(report, now_ms() - began);
  if (report.failure) {
    sim::Failure& found = *report.failure;
    outcome.failure =
        SimulationFailure{found.as_found.seed, found.violation,   sim::arguments_of(found.shrunk),
                          found.faults_found,  found.faults_left, std::move(found.trace)};
  }
  return outcome;
}

}  // namespace pawl
