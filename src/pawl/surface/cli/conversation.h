// A run that goes on with something said to it.
#pragma once

#include <string>

#include "pawl/surface/cli/context.h"

namespace pawl {

// UTF-8, not empty; "-": from standard input.
Result<std::string> said_text(const CliContext& context, const std::string& given);

bool is_over(const RunDetails& details);

// What a charter and the options of a new run come to.
struct Preparation {
  std::optional<StartRequest> request;
  std::vector<std::string> faults;  // of the charter; or the one of the options
};
Preparation prepare_start(const CliContext& context, const std::string& path, const RunId& id,
                          const std::string& input);
std::string listed(const std::vector<std::string>& faults);  // safe to show, a line each

// A run that is over and does not go on is shown as it ended.
int show_end(const CliContext& context, Workspace& workspace, const RunDetails& details);
// Takes up a run that nobody drives, and drives it here.
int take_up_here(const CliContext& context, Workspace& workspace, const RunDetails& details);
// After a decision about its call that left with `code`: with --resume the run goes on here.
int then_resume(const CliContext& context, Workspace& workspace, const RunId& run, int code);
// Shows a run that another process drives, until it ends or waits.
int attach_to(const CliContext& context, Workspace& workspace, const RunId& run);

// Opens the next turn of a run that is over with `text`, and drives it here. With `limits` where
// they are given: none is lower than the run's.
int reopen_with(const CliContext& context, Workspace& workspace, const RunDetails& details,
                const std::string& text, std::optional<Limits> limits = {});
// It waits, or its process is gone: what is said goes before whatever it does next.
int resume_with(const CliContext& context, Workspace& workspace, const RunDetails& details,
                const std::string& text);

// `pawl run --continue RUN TEXT`: whatever the run does, it is told and goes on.
int continue_run(const CliContext& context, const std::string& run_prefix, const std::string& text);
// The one run whose id begins so; empty: the one that was started last. corrupt: quarantined.
Result<RunDetails> run_to_talk_with(const Service& service, const std::string& run_prefix);

}  // namespace pawl
