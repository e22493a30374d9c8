// A run's instances, as people look at them: the live ones, or all that there were once it is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/ids.h"
#include "pawl/kernel/flow_facts.h"

namespace pawl {

struct TreeInstance {
  InstanceId id = kRootInstance;
  std::optional<InstanceId> parent = {};  // none: the root
  std::string node;
  bool worker = false;
  std::string phase;
  std::string state = {};  // JSON; empty: it has none
  std::string suspend_id = {};
  std::uint64_t steps = 0;
  std::uint64_t tokens = 0;
  std::uint64_t cost_pico = 0;
};

// A run that the run has started.
struct TreeChild {
  std::string run;
  CallId call{};
  std::string agent;
  std::string status = {};
};

struct TreePhase {
  std::string name;  // a step that was discovered: of its phase, and its number
  std::string status;
  std::string output = {};  // JSON; empty: null
  std::string why = {};     // it failed
};

struct RunTree {
  std::string currency;
  std::vector<TreeInstance> instances;   // by their numbers
  std::vector<TreePhase> phases = {};    // as the charter orders them
  std::vector<TreeChild> children = {};  // by the numbers of their calls
  std::vector<WorkItem> work_items = {};
};

// {"run","instances":[…],"phases":[…],"children":[…],"work_items":[…]}
std::string tree_json(const std::string& run, const RunTree& tree);
// A line an instance, indented below its parent.
std::string tree_text(const RunTree& tree);

}  // namespace pawl
