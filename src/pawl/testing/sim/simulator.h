// Many histories, one seed after the other, until one fails or the time is up. A failure is shrunk:
// fewer runs, fewer steps, only the faults that matter.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pawl/testing/sim/history.h"

namespace pawl::sim {

struct SimulationOptions {
  HistoryOptions history;  // the first one; the seeds count up from there
  std::uint64_t seeds = 1;
};

struct Failure {
  HistoryOptions as_found;
  HistoryOptions shrunk;
  std::string violation;           // of the shrunk history
  std::vector<std::string> trace;  // likewise
  std::uint64_t faults_found = 0;  // how many struck, as found and shrunk
  std::uint64_t faults_left = 0;
};

struct SimulationReport {
  std::uint64_t histories = 0;
  std::uint64_t events = 0;
  std::uint64_t steps = 0;
  std::uint64_t effects = 0;
  std::uint64_t forks = 0;
  std::uint64_t crashes = 0;
  std::uint64_t hash = 0;  // of all histories: equal options give equal hashes
  std::array<std::uint64_t, kFaultKinds> faults{};
  Met met;
  std::optional<Failure> failure;
};

// Asked before each history; false ends the simulation. Gets what happened so far.
using KeepGoing = std::function<bool(const SimulationReport&)>;

SimulationReport simulate(const SimulationOptions& options, const KeepGoing& keep_going);

// A smaller history that fails as well, and its trace.
Failure shrink(const HistoryOptions& failing);

// The arguments of `pawl sim` that repeat a history.
std::string arguments_of(const HistoryOptions& options);

}  // namespace pawl::sim
