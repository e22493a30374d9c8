// Decisions of the person at the terminal, while a run is shown there.
#pragma once

#include "pawl/surface/cli/context.h"

namespace pawl {

class DriveSession;

// Whether somebody can be asked: standard input and output are a terminal, and the output is text.
bool can_ask(const CliContext& context);

// As long as the run waits for decisions and somebody makes them: asks, and carries the run on.
// `code` is how the run was left; returns how it is left in the end.
int decide_at_terminal(const CliContext& context, Workspace& workspace, const RunId& run, int code);

}  // namespace pawl
