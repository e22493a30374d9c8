// What holds between any two records of any run. The kernel asserts it: of the instance that an
// event was about after every record, of the whole run in debug and sanitizer builds and in the
// simulator.
#pragma once

#include <string>

#include "pawl/kernel/run.h"

namespace pawl {

// Empty, or what is wrong with what one instance waits for. It looks at no other instance.
std::string fault_of_instance(const RunState& state, const Instance& instance);
// Empty, or what is wrong: an effect that nobody waits for, or somebody who waits for none.
std::string fault_of_effects(const RunState& state);
// Empty, or what would never go on by itself although nobody stops it.
std::string fault_of_liveness(const RunState& state);
// Empty, or what does not fit in the tree of instances, of a run that has nodes.
std::string fault_of_tree(const RunState& state);
// All of them, and that what is set aside is what is under way.
std::string fault_of(const Run& run);

// Stops the process if the run, after a record about this instance, is not as it must be.
void assert_invariants(const Run& run, InstanceId touched);

}  // namespace pawl
