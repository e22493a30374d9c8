// What decides about runs that a run starts as its subagents: the one way in, their asks, their
// ends. Internal to the kernel.
#pragma once

#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/draft.h"

namespace pawl {

// The chokepoint: the call starts its run, or waits for a place, or is refused in words.
void run_child(Draft& draft, const Call& call);
// A crash has cut the call short: the run that it started is found again.
void recover_child(Draft& draft, const Call& call);
// Runs that wait may have been given what they waited for: they are looked at again.
void wake_children(Draft& draft);
// Of an instance that leaves: the runs that its calls have started are cancelled.
void cancel_child_runs(Draft& draft, InstanceId id);
// The run ends: each run beneath it is cancelled or goes on by itself.
void leave_child_runs(Draft& draft);
void steer_children(Draft& draft, Steer steer);

// What the run holds of what it was allowed: used and set aside.
TreeBounds held_of(const Draft& draft);
// Money that a model call asks for, and what of it is left of what the parent has allowed.
struct AllowedLeft {
  std::uint64_t pico = 0;
  std::uint64_t tokens = 0;
};
AllowedLeft left_of_allowance(const Draft& draft);

// At the end of each record: gives what has become free to those that wait for it, asks the parent
// for what is wanted of it, and tells it what was used.
void settle_tree(Draft& draft);

}  // namespace pawl
