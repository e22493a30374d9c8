// Executes one call of a common tool, by its name, in a session that is made for it and given back
// on every end. For hosts that have a call and no run; the calls of a run go through its driver.
#pragma once

#include <functional>
#include <memory>

#include "pawl/backend.h"
#include "pawl/gate/call_gate.h"
#include "pawl/tool.h"
#include "pawl/tools/tool_catalogue.h"

namespace pawl {

// All of the gate's pipeline comes first, and what it does not allow does not run: there is nobody
// to ask, so a question is a refusal, too. `done` once, on the loop thread, never from inside, and
// not after the Operation is gone; loop and gate outlive that.
std::unique_ptr<Operation> execute(Loop& loop, CallGate& gate, const ProposedCall& call,
                                   ExecutionContext context, std::shared_ptr<Backend> backend,
                                   std::function<void(ToolOutcome)> done,
                                   const CommonToolOptions& options = {});

}  // namespace pawl
