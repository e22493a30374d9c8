// The application API: everything that a surface may ask for. The command line is written on it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/engine/engine.h"
#include "pawl/gate/approvals/approvals.h"
#include "pawl/history/artifacts.h"
#include "pawl/history/import.h"
#include "pawl/history/replay.h"
#include "pawl/history/run_diff.h"
#include "pawl/journal/run_loader.h"
#include "pawl/port/budget.h"
#include "pawl/port/journal_checks.h"
#include "pawl/service/run_tree.h"

namespace pawl {

// A run as a person wants to see it.
struct RunDetails {
  RunSummary summary;
  RunState state;
  std::string output;      // its last text
  std::string quarantine;  // why it cannot be loaded; then `state` is empty
  bool driven = false;     // by some live process
};

// Why nothing more comes of a watch.
enum class WatchEnd : std::uint8_t {
  read,      // what there was has been given, and no more was asked for
  over,      // the run is over
  undriven,  // it is neither over nor waiting, and nobody drives it
};

// A run goes from one driver to the next within this time; only then it is called undriven.
inline constexpr std::int64_t kUndrivenGraceMs = 1'000;

inline constexpr std::size_t kMessageBytesMax = 512U << 10U;
inline constexpr std::size_t kSingletonBytesMax = 256;

struct VerifyReport {
  RunId run;
  std::uint64_t records = 0;
  std::uint64_t blobs = 0;
  std::uint64_t expired = 0;  // of them: their bytes were let go
  Digest chain;
  std::string damage;  // empty: everything is as it was written
};

class Service {
 public:
  explicit Service(Engine& engine) : engine_(engine) {}

  // The one run whose id starts with `prefix`. not_found; conflict when there are several (the
  // message lists them).
  Result<RunId> find(const std::string& prefix) const;
  Result<std::vector<RunSummary>> list(const ListQuery& query) const;
  // Every run that the query asks for, newest first; its `count_max` is the size of a page. False
  // from `visit` ends it.
  Status for_each(ListQuery query,
                  const std::function<Result<bool>(const RunSummary&)>& visit) const;
  Result<RunDetails> show(const RunId& run) const;
  Result<RunSummary> summary_of(const RunId& run) const;
  // Whether some live process drives the run. What says "running" and is not driven is looked up
  // once more: it may have ended between the two looks.
  Result<bool> is_driven(RunSummary& summary) const;
  Result<bool> is_driven(const RunId& run) const;

  // The text of the charter that the run was started from.
  Result<std::string> charter_of(const RunId& run) const;

  // Starts a run here. See Engine::start.
  void start(StartRequest request, std::function<void(Result<RunId>)> accepted);
  // Whether a run that is there is what this would start. See Engine::is_start_of.
  Result<bool> is_start_of(const StartRequest& request) const {
    return engine_.is_start_of(request);
  }
  // Starts a run from a recorded prefix of another. See Engine::fork.
  void fork(ForkRequest request, std::function<void(Result<Forked>)> accepted);
  // Drives a run here until it ends or waits. A paused one goes on.
  Status resume(const RunId& run);
  // The same beside other runs. See Engine::take_up.
  void resume(const RunId& run, StatusCallback done);

  // Takes a run up that nobody drives, and leaves a paused one paused. See Engine::resume.
  Status take_up(const RunId& run);

  // Of runs that are driven here. Feeds an event of the host's own; see Engine::feed.
  Status feed(const RunId& run, Event event);
  // A run that is driven here, as it is now; nullptr: it is not.
  const Run* live(const RunId& run) const { return engine_.find(run); }
  // Whether a run that waits, and for nobody, is taken up again here by itself.
  bool wakes(const RunId& run) const;
  // `ended` is called when a run is no longer driven here; empty: nobody is told any more.
  void on_ended(std::function<void(const RunId&, const Status&)> ended);
  // Everything that happens to them. The subscription ends with the handle.
  std::shared_ptr<void> subscribe(RunEventSink sink);

  // Puts a message into the run's durable inbox; whoever drives it takes it from there. `done` is
  // called when it is durable. conflict: the run is over.
  void post(const RunId& run, const Event& event, StatusCallback done);
  // The runs that something waits for in an inbox, in no order.
  Result<std::vector<RunId>> addressed() const;
  std::int64_t wall_ms() const;
  // What waits in the inbox and can be read.
  Result<std::vector<Event>> waiting(const RunId& run) const;
  // Builds the events of post(), checking them against the run as it is now.
  // nullopt: to the primary instance that acts, or the deepest live one.
  struct MessageWay {
    std::optional<InstanceId> instance = {};
    Delivery delivery = Delivery::next_step;
    std::string singleton = {};
  };
  Result<Event> message(const RunId& run, std::string text, std::string from) const {
    return message(run, std::move(text), std::move(from), {});
  }
  Result<Event> message(const RunId& run, std::string text, std::string from, MessageWay way) const;
  // The whole state of an instance that somebody outside owns, as JSON. nullopt: as for a message.
  Result<Event> state_setting(const RunId& run, std::optional<InstanceId> instance,
                              std::string json, std::string by) const;
  // What is done to a phase of the run's flow. conflict: it is in no state for it.
  Result<Event> phase_control(const RunId& run, std::string phase, PhaseAction action,
                              std::string by) const;
  // An event for phases that await it; JSON, may be empty. conflict: none does.
  Result<Event> outside_event(const RunId& run, std::string event, std::string json,
                              std::string by) const;
  // What lets a run that is over go on: with more room, something said to it, or as it is.
  // conflict: it would end again at once.
  struct Reopening {
    std::optional<Limits> limits = {};  // in place of the run's; none is lower than it was
    std::optional<Guards> guards = {};
    std::string message = {};  // for its next step
  };
  Result<Event> reopening(const RunId& run, Reopening how, std::string by) const;
  // Does it, and drives the run here. See Engine::reopen.
  Status reopen(const RunId& run, Event event) { return engine_.reopen(run, std::move(event)); }
  // Runs a phase of a run that is over again, and drives it here. See Engine::reopen.
  Status rerun_phase(const RunId& run, std::string phase, std::string by);
  // A command of the node that an instance is in; `input` is JSON. nullopt: as for a message.
  // invalid_argument: no JSON. conflict, not_found: it would be refused as the run is now.
  Result<Event> command(const RunId& run, std::string name, std::string input,
                        std::optional<InstanceId> instance, std::string by) const;
  // Why the run, as it is now, does not take a command that was posted.
  Error refusal_of(const RunId& run, const CommandGiven& command) const;
  // Has the commands that wait decided, where nobody drives the run. See Engine::decide.
  Status decide(const RunId& run, StatusCallback done) {
    return engine_.decide(run, std::move(done));
  }
  Result<Event> resolution(const RunId& run, CallId call, DoubtVerdict verdict,
                           std::optional<std::string> result, std::string by) const;
  // conflict: the run has no such bound that could be raised.
  Result<Event> budget_raise(const RunId& run, const BudgetAmount& by, std::string who) const;
  // The reply to a turn that was handed out. conflict: there is none.
  struct ExternalTurn {
    std::string text;
    std::vector<std::pair<std::string, std::string>> calls;  // tool, input (a JSON object)
  };
  Result<Event> external_turn(const RunId& run, ExternalTurn turn, std::string by) const;
  Result<Event> instance_resumption(const RunId& run, InstanceId instance, std::string suspend_id,
                                    std::string by, std::string message = {}) const;
  // The run that started this one, with the call and the agent. nullopt: none did.
  Result<std::optional<Ancestor>> parent_of(const RunId& run) const;
  // No run is driven here, and nothing that one had to say to another is on its way.
  bool is_idle() const;
  // The run's instances; of a run that is over, all that there were.
  Result<RunTree> tree(const RunId& run) const;

  // Every durable event from `from` on with the state after it, and then (follow) those to come,
  // by whichever process drives, until the run is over or nobody drives it. Destroying the handle
  // ends it. `sink` is called on the loop thread; `ended` once, when there is nothing more to come,
  // with an error when it cannot be read.
  enum class Follow : std::uint8_t { no, yes };
  std::shared_ptr<void> watch(const RunId& run, std::uint64_t from, Follow follow,
                              std::function<void(std::shared_ptr<const RecordView>)> sink,
                              std::function<void(Result<WatchEnd>)> ended);

  // One record, its link to the one before checked. not_found: it is not written yet.
  Result<Record> record(const RunId& run, std::uint64_t seq) const;
  // Every record from the first on, with the state after it.
  std::unique_ptr<JournalWalker> walk(const RunId& run) const;
  // The bytes of a content of the run's.
  Result<std::string> text_of(const RunId& run, const Content& content) const;
  // What the run wants of people. See approvals.h.
  Result<std::vector<PendingApproval>> pending_approvals(const RunState& state) const;
  // Long outputs of tools. See artifacts.h.
  Result<std::vector<Artifact>> artifacts(const RunId& run) const;
  Result<std::string> bytes_of(const RunId& run, const Artifact& artifact) const;

  // Reads everything of a run and checks it: chain, codec, fold, blobs.
  Result<VerifyReport> verify(const RunId& run) const;
  // Lifts the quarantine of a run that verify() finds sound. False: it is not quarantined, or was
  // never written whole.
  Result<bool> lift_quarantine(const RunId& run);
  // Makes every decision again, offline, and compares.
  Result<ReplayReport> replay(const RunId& run) const;
  // Where two runs differ.
  Result<RunDiff> diff(const RunId& a, const RunId& b, DiffScope scope) const;
  // A run as one file, and back. See export.h and import.h.
  Result<ExportReport> export_run(const RunId& run, const ExportOptions& options,
                                  const ExportSink& sink) const;
  void import_run(std::shared_ptr<LineSource> lines, std::optional<RunId> id,
                  std::function<void(Result<ExportReport>)> done);
  // Why the run is where it is, in sentences.
  Result<std::string> explain(const RunId& run) const;
  // What the run had said by the time of this view, for the events that end it or park it.
  Result<std::string> output_of(const RecordView& view) const;

  Engine& engine() { return engine_; }

 private:
  // What the run as it is now says to an event. conflict: it does not take it.
  Result<Event> accepted(const RunId& run, Event event) const;
  Status check_unresolved(const RunId& run, CallId call) const;
  Status check_command(const RunId& run, CommandGiven event) const;

  Engine& engine_;
};

}  // namespace pawl
