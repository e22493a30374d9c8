// Makes the request for one model call of a run, and the transcript it loads its messages from.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "pawl/run/call_judge.h"
#include "pawl/run/driven_run.h"

namespace pawl {

// The first `length` entries of the instance's transcript, which only grows behind them. What the
// store refuses is kept in `unreadable` too: the executor can only fail for it.
std::shared_ptr<const Transcript> make_run_transcript(
    DrivenRun& run, InstanceId instance, std::size_t length,
    std::shared_ptr<std::optional<Error>> unreadable);

PhaseExecutionRequest request_for(const DrivenRun& run, const CallModel& effect,
                                  const CallJudge& judge,
                                  std::shared_ptr<const Transcript> transcript);

// Leaves out what the executor brings itself, and what it cannot do. The list of allowed tools
// keeps the names: the executor's own tools are judged by them.
void adapt_to_capabilities(const DrivenRun& run, const ExecutorCapabilities& bits,
                           PhaseExecutionRequest& request);

// The failure of a request that the model cannot take, so that it is not sent.
std::optional<PhaseFailed> unsupported_input(const DrivenRun& run,
                                             const PhaseExecutionRequest& request,
                                             const ExecutorCapabilities& bits);

}  // namespace pawl
