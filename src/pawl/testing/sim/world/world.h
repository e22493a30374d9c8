// The outside world: tools that have effects, slowly and unreliably, and a model that asks for
// them. Both answer on the loop of the process that called; effects can outlive it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/executor.h"
#include "pawl/gate/call_gate.h"
#include "pawl/testing/sim/clock.h"
#include "pawl/testing/sim/faults.h"
#include "pawl/testing/sim/oracle.h"
#include "pawl/testing/sim/planted.h"
#include "pawl/testing/sim/world/policy.h"
#include "pawl/tool.h"

namespace pawl::sim {

struct World {
  SimClock& clock;
  SimLoop& loop;  // the world's own
  Faults& faults;
  Rng& rng;
  Oracle& oracle;
  SimPolicy& policy;
  PlantedBug bug = PlantedBug::none;
  std::uint64_t steps = 20;             // a run takes about half of them
  std::map<std::string, int> flying{};  // effects under way, by key
  std::uint64_t written = 0;            // so that no two texts are the same
};

// A word that no other text of the history has.
std::string new_mark(World& world);

// The tools of every simulated agent, bound to one process's loop.
std::vector<std::shared_ptr<Tool>> make_tools(World& world, SimLoop& process);
std::shared_ptr<Executor> make_executor(World& world, SimLoop& process);
std::shared_ptr<CallGate> make_gate(World& world, SimLoop& process);
std::shared_ptr<Compactor> make_compactor(World& world, SimLoop& process);

inline constexpr const char* kSimModel = "sim/model";      // has little room, and is cheap
inline constexpr const char* kLargeModel = "other/model";  // is asked when that one fails
std::vector<ExecutorModelDescriptor> sim_models();
inline constexpr const char* kStarter = "ann";  // of every run

}  // namespace pawl::sim
