// The third layer: system calls that no tool needs and that exploits are made of.
//
// A list of what is denied, not of what is allowed: tools are arbitrary programs, and namespaces
// and Landlock stand before it. Calls newer than the newest we know are denied as unknown.
#pragma once

#include <linux/filter.h>

#include <memory>
#include <vector>

#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/result.h"

namespace pawl::sandbox {

using SeccompProgram = std::vector<sock_filter>;

// Compiled once a process for each of the few combinations there are.
Result<std::shared_ptr<const SeccompProgram>> seccomp_program(IsolationLevel level,
                                                              NetworkAccess network);

}  // namespace pawl::sandbox
