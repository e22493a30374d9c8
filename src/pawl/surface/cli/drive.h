// Drives one run in this process and shows it, until it ends or waits.
#pragma once

#include <functional>
#include <memory>

#include "pawl/surface/cli/context.h"
#include "pawl/surface/cli/paced_view.h"

namespace pawl {

// How long a run may take to park after SIGTERM or SIGHUP before the process leaves anyway.
inline constexpr std::int64_t kTerminationGraceMs = 5'000;

class DriveSession {
 public:
  // `view` may be null: then nothing is shown. It is shown at its reader's pace, and the session
  // waits for a reader who does not read kReaderGraceMs at the end.
  DriveSession(const CliContext& context, Workspace& workspace, RunView* view);
  ~DriveSession();

  // Begins with `request`. `accepted` (may be empty) is called when the run is durable, or when it
  // was refused.
  int start(StartRequest request, std::function<void(const Status&)> accepted);
  // Likewise, with a fork; `request` names its id.
  int fork(ForkRequest request, std::function<void(const Result<Forked>&)> accepted);
  // Takes a run up. `begin` does it: Service::resume or Engine::resume.
  int carry_on(const RunId& run, const std::function<Status()>& begin);

 private:
  void on_event(const RunEvent& event);
  void on_signal(int number);
  void park(const std::string& note);
  void cancel();
  int wait();

  const CliContext& context_;
  Workspace& workspace_;
  RunView* view_;
  std::unique_ptr<PacedView> paced_;  // null without a view
  RunId run_;
  std::shared_ptr<const RecordView> last_;
  std::optional<Status> ended_;
  int interrupts_ = 0;
  enum class Leaving : std::uint8_t { no, yes } leaving_ = Leaving::no;
  enum class Stored : std::uint8_t { not_yet, yes } stored_ = Stored::yes;  // the run itself
  std::unique_ptr<Timer> grace_;
  std::shared_ptr<void> subscription_;
  std::unique_ptr<MainLoop::Signals> signals_;
};

}  // namespace pawl
