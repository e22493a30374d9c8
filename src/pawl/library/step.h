// One step of a run, for hosts that iterate: see Runner::steps().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/kernel/blocks.h"
#include "pawl/kernel/ids.h"
#include "pawl/kernel/words.h"

namespace pawl {

// An instance of the run's tree, as it was after the step.
struct InstanceInfo {
  InstanceId id = kRootInstance;
  InstanceId parent = kRootInstance;  // the root is its own parent
  std::string node;
  std::string name;         // in its parent's node; may be empty
  std::string_view phase;   // "ready", "awaiting_tools", …: the glossary of ARCHITECTURE.md
  std::uint32_t depth = 0;  // ancestors
};

struct SuspendedInstanceInfo {
  InstanceId instance = kRootInstance;
  std::string suspend_id;
  std::string reason;
  std::string metadata;  // JSON; may be empty
};

struct MachineStep {
  std::uint64_t number = 0;
  InstanceId instance_id = kRootInstance;
  std::vector<InstanceInfo> instance;  // the tree after this step, the root first
  std::vector<Message> history;        // what this step added to the transcript of its instance
  YieldReason yield_reason = YieldReason::end_turn;
  bool done = false;  // nothing follows: the run is over, or it waits
  std::optional<std::string> cede_content;
  std::vector<SuspendedInstanceInfo> suspended_instances;
};

}  // namespace pawl
