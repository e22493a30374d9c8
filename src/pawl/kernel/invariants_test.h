// What holds between any two records of any run.
#pragma once

#include <string>

#include "pawl/kernel/run.h"

namespace pawl::testing {

// Empty, or what is wrong: an effect that nobody waits for, or somebody who waits for none.
std::string fault_of_effects(const RunState& state);
// Empty, or what would never go on by itself although nobody stops it.
std::string fault_of_liveness(const RunState& state);
void check_invariants(const RunState& state);

}  // namespace pawl::testing
