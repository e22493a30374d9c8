// Which sandboxes can be had on this machine: for `pawl doctor`.
#pragma once

#include <vector>

#include "pawl/port/loop.h"
#include "pawl/surface/cli/environment.h"

namespace pawl {

// One line a level: that it can be had, or why not and what would help. Each is tried, by running a
// program in it.
std::vector<Finding> examine_sandboxes(Loop& loop);

}  // namespace pawl
