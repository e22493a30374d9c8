// A model that says what a script says, behind the real executor interface. No network, no thread,
// no clock of its own: everything happens on the loop.
//
// The reply is chosen by PhaseExecutionRequest::position. A position beyond the script fails the
// phase with validation_error, which is never retried.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "pawl/executor.h"
#include "pawl/loop.h"
#include "pawl/testing.h"

namespace pawl {

// Of one turn of the loop, so that a long reply neither holds up others nor outruns an abort.
inline constexpr std::size_t kEventsPerTurnMax = 32;

class ScriptedExecutor final : public Executor {
 public:
  ScriptedExecutor(Script script, Loop& loop);

  const ExecutorCapabilities& capabilities() const override;
  std::vector<ExecutorModelDescriptor> list_models() const override;
  ExecutorCapabilities capabilities_of(std::string_view model) const override;
  // The script's own name, "scripted", and everything that starts with "scripted/".
  bool supports(std::string_view model) const override;
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override;

 private:
  Script script_;
  Loop& loop_;
};

// `loop` outlives the executor and its operations; the executor need not outlive its operations.
// The capabilities are passed on as declared: check_capabilities() is for whoever registers it.
std::shared_ptr<Executor> make_scripted_executor(Script script, Loop& loop);

}  // namespace pawl
