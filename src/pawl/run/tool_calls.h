// Runs the tools of one run, and asks them for the status of calls whose outcome is unknown.
#pragma once

#include <optional>
#include <string>

#include "pawl/run/call_judge.h"
#include "pawl/run/driven_run.h"
#include "pawl/run/driver_callbacks.h"
#include "pawl/run/operations.h"

namespace pawl {

class ToolCalls {
 public:
  ToolCalls(DrivenRun& run, Operations& operations, DriverCallbacks& callbacks, CallJudge& judge)
      : run_(run), operations_(operations), callbacks_(callbacks), judge_(judge) {}

  // `record` holds the intent.
  void perform(const Record& record, const RunTool& effect);
  void perform(const Record& record, const AskStatus& effect);

 private:
  Result<ToolInvocation> invocation_for(const Record& record, CallId call, std::uint32_t attempt);
  void start(const RunTool& effect, Tool& tool, ToolInvocation&& invocation);
  void invoke(const RunTool& effect, Tool& tool, ToolInvocation&& invocation);
  void finish(const RunTool& effect, const std::string& tool, const std::string& input,
              ToolOutcome&& outcome);
  void park(const RunTool& effect, const ChildOutcome& child);
  void finish_status(const AskStatus& effect, ToolStatus status);
  bool becomes_words(const RunTool& effect) const;
  void report(const RunTool& effect, ToolEnd end, ToolOutcome&& outcome, Origin origin,
              std::optional<std::string> callback_stop = {});
  void report_late(const RunTool& effect, ToolEnd end, ToolOutcome&& outcome);
  // Reports `text` in the tool's place.
  void answer(const RunTool& effect, ToolEnd end, std::string text, Origin origin);

  DrivenRun& run_;
  Operations& operations_;
  DriverCallbacks& callbacks_;
  CallJudge& judge_;
};

}  // namespace pawl
