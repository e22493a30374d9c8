// The least isolation that a user's policy demands of every charter: its section `sandbox`.
//
//   sandbox: { level: namespace, landlock: 3 }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/backend.h"
#include "pawl/base/document.h"

namespace pawl {

inline constexpr int kPolicyLandlockMax = 64;

struct SandboxDemand {
  std::optional<IsolationLevel> level;  // landlock, container or namespaces; empty: any
  int landlock = 0;                     // the least version behind the level; 0: any
};

SandboxDemand read_sandbox_demand(const Node& node, std::vector<Fault>& faults,
                                  const std::string& where);

// Why a policy refuses this isolation; empty: it does not. From strong to weak: namespace,
// container, landlock, and everything else, which no demand accepts.
std::string sandbox_objection(const SandboxDemand& demand, const SandboxReach& reach);

}  // namespace pawl
