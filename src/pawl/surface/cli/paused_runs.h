// What is said of runs that wait because their newest records may be lost.
#pragma once

#include <string>
#include <vector>

#include "pawl/surface/cli/context.h"

namespace pawl {

std::string paused_runs_text(const CliContext& context, const std::vector<std::string>& runs);

}  // namespace pawl
