// Drives one run: feeds events to the kernel, has the records appended, and performs the effects
// once their intents are durable. It decides nothing.
//
// DrivenRun holds the run; each other part performs one kind of effect, reads the run through it,
// and reports outcomes to it as events. Parts have no locks and no threads: all of it happens on
// the loop thread. Callbacks hold the driver weakly.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/run/call_judge.h"
#include "pawl/run/driven_run.h"
#include "pawl/run/driver_callbacks.h"
#include "pawl/run/driver_inbox.h"
#include "pawl/run/model/model_calls.h"
#include "pawl/run/operations.h"
#include "pawl/run/tool_calls.h"

namespace pawl {

class Driver final : public DrivenRun::Owner {
 public:
  // Called once, when this driver has nothing more to do: the run is over, or it waits, or (error)
  // the store failed it.
  using Ended = std::function<void(Status)>;

  Driver(DriverServices services, DriverSetup setup, Ended ended);

  // The first event of a new run, which has passed the filter. `accepted` is called when it is
  // durable.
  void begin(RunStarted event, std::vector<StoredBlob> blobs, StatusCallback accepted);
  // Goes on with a run that was written whole by this process: performs the effects of its last
  // record, which nobody has done.
  void go_on(const Record& last);
  // Takes an existing run up. `unstarted_from`: see DriverAttached.
  void attach(const std::string& by, EffectId unstarted_from = {});
  // Of a run that is over: it goes on by this event, or stays as it was.
  Status reopen(Event event, std::vector<StoredBlob> blobs);
  // Has the commands decided that wait for the run, and then this one, and lets it go: nothing is
  // performed of what follows from them. conflict, invalid_argument: this one is refused.
  Status decide(std::optional<CommandGiven> command);
  // Looks for messages of other processes.
  void take_inbox() { inbox_.take(); }
  // Shows a text to the next model call of an instance, and writes it down nowhere. not_found: no
  // such instance. invalid_argument: a processor blocks it.
  Status whisper(std::optional<InstanceId> instance, std::string text);
  // Feeds an event of the host's own. conflict: the kernel refused it.
  Status feed(Event event, std::vector<StoredBlob> blobs = {});

  const Run& run() const { return run_.run(); }

 private:
  void on_appended(const std::shared_ptr<const RecordView>& view, const Status& status) override;
  void on_store_threw(const Status& thrown) override;
  void on_end(const Status& status) override;
  void on_durable(const RecordView& view);
  void let_go_when_durable();

  // `record` holds the intents.
  void perform_effects(const Record& record);
  void perform(const Record& record, const BeginAgent& effect);
  void perform(const Record& record, const EndAgent& effect);
  void perform(const Record& record, const CallModel& effect);
  void perform(const Record& record, const CompactContext& effect);
  void perform(const Record& record, const JudgeCall& effect);
  void perform(const Record& record, const RunTool& effect);
  void perform(const Record& record, const AskStatus& effect);
  void perform(const Record& record, const AbortEffect& effect);
  // What it says to other runs.
  template <class Said>
  void perform(const Record&, const Said& effect) {
    if (run_.services().carry) run_.services().carry(run_.id(), effect);
  }

  Ended ended_;
  StatusCallback accepted_;
  DrivenRun run_;
  Operations operations_;
  DriverCallbacks callbacks_;
  CallJudge judge_;
  ModelCalls model_calls_;
  ToolCalls tool_calls_;
  DriverInbox inbox_;
  CommandDrive mode_ = CommandDrive::driven;
};

}  // namespace pawl
