// The simulator as the command line asks for it.
#pragma once

#include <functional>

#include "pawl/surface/cli/environment.h"

namespace pawl {

SimulationOutcome run_simulation(const SimulationRequest& request,
                                 const std::function<void(const SimulationTally&)>& progress);

}  // namespace pawl
