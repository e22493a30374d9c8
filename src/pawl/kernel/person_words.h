// Checks of a person's decision about a call: may they decide, and does it answer the question?
#pragma once

#include "pawl/kernel/events.h"
#include "pawl/kernel/run.h"

namespace pawl {

// Checks an approver: is their signature verified where one is needed, and did another person start
// the run where two are needed?
bool may_approve(const RunState& state, const CallDecided& decided);
// Checks that the decision answers the kind of question that was asked.
bool fits(InterruptKind kind, const CallDecided& decided);

}  // namespace pawl
