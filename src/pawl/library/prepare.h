// From an agent of a host's to one that can be driven.
#pragma once

#include "pawl/agent.h"
#include "pawl/run/agent/agent.h"

namespace pawl {

PreparedAgent prepare(const RunnableAgent& agent);

}  // namespace pawl
