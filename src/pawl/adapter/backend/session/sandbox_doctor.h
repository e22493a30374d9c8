// Which sandboxes can be had on this machine: for `pawl doctor`, and for the journal of a run.
#pragma once

#include <string>
#include <vector>

#include "pawl/backend.h"
#include "pawl/loop.h"
#include "pawl/port/finding.h"

namespace pawl {

// One line a level: that it can be had, or why not and what would help. Each is tried, by running a
// program in it.
std::vector<Finding> examine_sandboxes(Loop& loop);

// "namespace, Landlock 2 of 6; …"
std::string describe_reach(const SandboxReach& reach);
// The second layer of the level has everything that this program has a use for.
bool is_complete(const SandboxReach& reach);
// Takes what sessions that were killed left under protected names out of their work trees, and says
// what was taken; and where earlier things are kept.
std::vector<Finding> examine_taken(const std::string& data);

}  // namespace pawl
