// Events that people put into a run's inbox, and what becomes of them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pawl/surface/cli/context.h"

namespace pawl {

// The run that a command steers.
struct Target {
  const CliContext& context;
  Workspace& workspace;
  RunId run;
  std::uint64_t length = 0;  // of the journal, before anything was posted
  std::string status;
  bool driven = false;

  Service& service() const { return workspace.service(); }
};

// Whether the call has its answer, in the inbox or in the journal, and what it is.
std::optional<Error> answered_before(const Target& target, const std::string& call);
// Posts a command and waits until it is decided, by the process that drives the run or by this one.
int decide(const Target& target, const Result<Event>& event);
// `act` with the live run that RUN names.
int with_target_in(const CliContext& context, Workspace& workspace,
                   const std::function<int(const Target&)>& act);
int with_target(const CliContext& context, const std::function<int(const Target&)>& act);
// Until it is durable.
Status post_and_wait(const Target& target, const Event& event);
// Posts an event that is only left for the driver. `what` is as in "the message".
int leave(const Target& target, const Result<Event>& event, const std::string& what);
// Posts an event and sees to it: takes the run up when nobody drives it.
int enforce(const Target& target, const Event& event, const std::string& done, RunStatus wanted);

}  // namespace pawl
