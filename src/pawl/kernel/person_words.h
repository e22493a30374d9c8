// What a person's word about a call must be for the kernel to take it.
#pragma once

#include "pawl/kernel/events.h"
#include "pawl/kernel/run.h"

namespace pawl {

// Checks an approver: is their signature verified where one is needed, and did another person start
// the run where two are needed?
bool may_approve(const RunState& state, const CallDecided& decided);
// Whether such a decision answers what was asked.
bool fits(InterruptKind kind, const CallDecided& decided);

}  // namespace pawl
