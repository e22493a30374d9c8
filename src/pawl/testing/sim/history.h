// One simulated history: processes that drive runs on one store, a world they act on, people who
// interfere, and faults. The same options give the same history on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/testing/sim/faults.h"
#include "pawl/testing/sim/oracle.h"
#include "pawl/testing/sim/planted.h"

namespace pawl::sim {

struct HistoryOptions {
  std::uint64_t seed = 1;
  std::uint64_t runs = 8;
  std::uint64_t steps = 20;  // the limit of each run
  std::uint64_t processes = 3;
  std::optional<std::vector<std::uint64_t>> only_faults;  // by number; absent: all
  PlantedBug bug = PlantedBug::none;
  enum class Trace : std::uint8_t { off, on } trace = Trace::off;
};

struct HistoryReport {
  std::optional<std::string> violation;
  std::uint64_t events = 0;   // records that the kernel decided and the store kept
  std::uint64_t steps = 0;    // model steps among them
  std::uint64_t effects = 0;  // on the outside world
  std::uint64_t forks = 0;    // that were made whole
  std::uint64_t crashes = 0;  // of processes, power losses included
  std::uint64_t hash = 0;     // of everything that became durable, and when
  Met met;
  std::vector<std::uint64_t> struck;
  std::array<std::uint64_t, kFaultKinds> faults{};
  std::vector<std::string> trace;
};

HistoryReport run_history(const HistoryOptions& options);

}  // namespace pawl::sim
