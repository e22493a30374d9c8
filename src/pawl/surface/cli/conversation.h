// A run that goes on with something said to it.
#pragma once

#include <string>

#include "pawl/surface/cli/context.h"

namespace pawl {

// UTF-8, not empty; "-": from standard input.
Result<std::string> said_text(const CliContext& context, const std::string& given);

bool is_over(const RunDetails& details);

// A run that is over and does not go on is shown as it ended.
int show_end(const CliContext& context, Workspace& workspace, const RunDetails& details);
// Takes up a run that nobody drives, and drives it here.
int take_up_here(const CliContext& context, Workspace& workspace, const RunDetails& details);
// After a decision about its call that left with `code`: with --resume the run goes on here.
int then_resume(const CliContext& context, Workspace& workspace, const RunId& run, int code);
// Shows a run that another process drives, until it ends or waits.
int attach_to(const CliContext& context, Workspace& workspace, const RunId& run);

// Opens the next turn of a run that is over with `text`, and drives it here.
int reopen_with(const CliContext& context, Workspace& workspace, const RunDetails& details,
                const std::string& text);

// `pawl run --continue RUN TEXT`: whatever the run does, it is told and goes on.
int continue_run(const CliContext& context, const std::string& run_prefix, const std::string& text);
// The run that was started last.
Result<RunId> last_run(const Service& service);

}  // namespace pawl
