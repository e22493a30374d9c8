// How a run's events are shown while they happen: JSON lines, plain lines, or a live view.
#pragma once

#include <memory>
#include <string>

#include "pawl/surface/cli/context.h"
#include "pawl/surface/cli/narrator.h"

namespace pawl {

class RunView {
 public:
  virtual ~RunView() = default;
  virtual void on_event(const RunEvent& event) = 0;
  // Something for the person at the terminal that is not part of the run's output.
  virtual void note(const std::string& text) = 0;
  // The run is no longer shown. `last` is its last event, null when there was none.
  virtual void finish(const RecordView* last) = 0;
};

// Chooses by --json and by what standard output is.
std::unique_ptr<RunView> make_view(const CliContext& context, Workspace& workspace,
                                   const RunState* resumed);

// For the views.

Narrator make_narrator(Service& service, const RunState* resumed,
                       Narrator::Turns turns = Narrator::Turns::held);
// What the run had said by then; nothing, and a line on standard error, when it cannot be read.
std::optional<std::string> readable_output(const CliContext& context, const Service& service,
                                           const RecordView& view);
// "3 steps, 3 tool calls, 120 tokens, 0.00 USD, 0.4 s"
std::string describe_usage(const RecordView& view);
// Why it ended or waits, and what can be done about it; for standard error. Empty when it is done.
std::string describe_end(const CliContext& context, Service& service, const RecordView& last);

}  // namespace pawl
