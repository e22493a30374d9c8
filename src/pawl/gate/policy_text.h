// The version of a policy: a digest of everything it says.
#pragma once

#include "pawl/gate/rules/rules.h"
#include "pawl/permissions.h"

namespace pawl {

Digest policy_digest(const GatePolicy& policy, const RuleSet& rules);

}  // namespace pawl
