// One step of a run, for hosts that iterate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/transcript.h"

namespace pawl {

struct SuspendedInstanceInfo {
  InstanceId instance = kRootInstance;
  std::string suspend_id;
  std::string reason;
  std::string metadata;  // JSON; may be empty
};

struct MachineStep {
  std::uint64_t number = 0;
  InstanceId instance_id = kRootInstance;
  std::vector<Instance> instance;  // the tree after this step, the root first
  std::vector<Message> history;    // what this step added to the transcript of its instance
  YieldReason yield_reason = YieldReason::end_turn;
  bool done = false;  // nothing follows: the run is over, or it waits
  std::optional<std::string> cede_content;
  std::vector<SuspendedInstanceInfo> suspended_instances;
};

}  // namespace pawl
