// What the instances of a run wait for, in sentences: a part of explain.h.
#pragma once

#include <string>

#include "pawl/kernel/run.h"

namespace pawl {

// Why an instance does nothing just now although the run goes on; empty: each has something to do.
std::string explain_instances(const RunState& state);
// How each one that is suspended, or whose turn the host has, goes on.
std::string explain_held_instances(const RunState& state);

}  // namespace pawl
