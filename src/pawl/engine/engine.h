// All live runs of a process: starts them, takes them up, watches for messages to them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "pawl/history/fork.h"
#include "pawl/run/agent/descent.h"
#include "pawl/run/driver.h"

namespace pawl {

class ChildRuns;
class GuardedStore;

struct PendingAttachment {
  std::string media_type;
  std::string name;
  std::string bytes;
};

struct StartRequest {
  PreparedAgent agent;
  std::string input;
  std::optional<RunId> id;  // made here when absent
  std::shared_ptr<const InvocationContext> context;
  std::vector<PendingAttachment> attachments = {};
  Sign sign = {};  // by the person who starts it; needed where two people have to agree
  std::optional<Descent> descent = {};  // of a run that another one starts
};

struct EngineOptions {
  Loop& loop;
  Store store;
  CallbackRegistry callbacks;
  AgentSource agents;          // for runs that are carried on; may be empty
  std::string name = "local";  // who drives, in the journal
  std::uint64_t snapshot_bytes_min = kSnapshotBytesMin;
  // Known secrets become handles before the kernel, the journal or anybody sees them; null: none.
  std::shared_ptr<const ByteFilter> filter = nullptr;
  // For runs that are carried on: what they were started with, by name.
  ServiceRegistry services = {};
  // What is kept of the conversations of live runs, in bytes. Beyond it they are read anew.
  std::uint64_t kept_bytes_max = kKeptBytesMax;
};

// Runs whose services this process remembers. A run beyond that is looked up in the registry.
inline constexpr std::size_t kLentServicesMax = 10'000;

// A run that goes on by itself at a time of the wall's is looked at this often: timers stand still
// while the machine sleeps, the wall's clock does not, and it may be set.
inline constexpr std::int64_t kWakeLookMs = 30'000;

// How long messages of other processes may go unnoticed.
inline constexpr std::int64_t kInboxPollMs = 100;

class Engine {
 public:
  explicit Engine(EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // `accepted` gets the id when the run is durable; it is driven here from then on.
  void start(StartRequest request, std::function<void(Result<RunId>)> accepted);
  // Whether the run that has the request's id was started with the same charter, input, variables
  // and attachments. not_found: there is none.
  Result<bool> is_start_of(const StartRequest& request) const;
  // Starts a run from a recorded prefix of another, and drives it here. Nothing of the prefix is
  // performed again. The prefix is told once before, a slice a callback. `accepted` is called when
  // it is durable; until then nobody can drive the fork. invalid_argument, not_found, conflict: see
  // PrefixRewriter and ForkEdits.
  void fork(ForkRequest request, std::function<void(Result<Forked>)> accepted);
  // Takes a run up that nobody drives. not_found, conflict (driven elsewhere, or over), corrupt
  // (and then it is quarantined).
  Status resume(const RunId& run);
  // The same for hosts with other runs: a large one is loaded a slice a callback. `taken` is told
  // when the run is driven here, or why not; from inside where that is known at once. Whatever is
  // asked of the run before that waits for nobody: the rest is loaded then.
  void take_up(const RunId& run, StatusCallback taken);
  // Takes a run up that is over, and lets it go on by a RunReopened or a PhaseControlled. conflict:
  // driven elsewhere, not over, or the run does not accept it; then nothing was changed.
  Status reopen(const RunId& run, Event event, std::vector<StoredBlob> blobs = {});

  // Has the commands decided that wait in the inbox of a run that nobody drives, and then
  // `command`, and lets the run go again: nothing that follows from them is started. `done` is told
  // then, or why `command` was refused. not_found, conflict, corrupt: as resume().
  Status decide(const RunId& run, StatusCallback done,
                std::optional<CommandGiven> command = std::nullopt);

  // Called when a run is no longer driven here: it is over, it waits, or the store failed it.
  void on_ended(std::function<void(const RunId&, const Status&)> ended);
  // The run that on_ended() is being told of, as it was last; null: another, or it was not driven.
  const Run* leaving(const RunId& run) const;
  // Everything that happens to runs driven here. The subscription ends with the handle.
  std::shared_ptr<void> subscribe(RunEventSink sink);

  // Looks for messages to a run now, instead of at the next poll.
  void notice(const RunId& run);
  // Feeds an event of the host's own to a run driven here.
  Status feed(const RunId& run, Event event, std::vector<StoredBlob> blobs = {});
  // An ephemeral message to a run driven here: see Driver::whisper.
  Status whisper(const RunId& run, std::optional<InstanceId> instance, std::string text);
  // Whether a run that waits, and for nobody, is taken up again here by itself.
  bool wakes(const RunId& run) const;
  const Run* find(const RunId& run) const;
  std::size_t live() const { return drivers_.size() + taking_up_.size(); }
  // No run is driven here, and nothing that one had to say to another is on its way.
  bool is_idle() const;
  const Store& store() const { return options_.store; }
  const ByteFilter* filter() const { return options_.filter.get(); }
  Loop& loop() { return options_.loop; }

 private:
  friend class ChildRuns;
  using AdhocCharters = std::function<Result<AdhocCharter>(const std::string& input)>;

  Result<DriverSetup> setup_for(PreparedAgent agent,
                                const std::map<std::string, std::string>& variables,
                                const std::vector<AgentSpec>& agents, Presence adhoc) const;
  // A run that a call of a driven one starts. An error is told to its model.
  Result<StartRequest> child_request(const RunId& parent, CallId call, const std::string& json,
                                     const AdhocCharters& charters) const;
  std::vector<std::pair<RunId, ChildStirred>> stirred_children() const;
  Result<DriverSetup> setup_of_pinned(const RunId& id) const;
  // `charter_of` is the run whose blobs hold the charter.
  Result<DriverSetup> setup_of(const RunStarted& started, const RunId& charter_of) const;
  struct TakingUp;
  enum class Slice : std::uint8_t { some, all };
  Result<std::shared_ptr<TakingUp>> begin_taking_up(const RunId& run);
  Result<std::optional<LoadedRun>> load_some(TakingUp& taking, Slice slice) const;
  std::optional<Result<DriverSetup>> load_on(TakingUp& taking, Slice slice) const;
  bool take_up_on(const RunId& run, Slice slice);
  void take_up_later(const RunId& run);
  void finish_taking_up(const RunId& run);
  Status drive_on(const RunId& run, DriverSetup setup);
  void forgive(const RunId& run, std::uint64_t epoch) const;
  Status check_kept(const RunState& state) const;
  bool has_mail(const RunId& id) const;
  void tell_ended(const RunId& id, const std::shared_ptr<Driver>& ended, const Status& status);
  Result<LoadedRun> look_again(const RunId& run) const;
  Result<DriverSetup> take_over(const RunId& run);
  std::shared_ptr<Driver> make_driver(DriverSetup setup, const RunId& id);
  void publish(const RunEvent& event);
  void wake_later(const RunId& id);
  void wake_when_due(const RunId& id);
  void poll();
  struct ForkPlan;
  Result<ForkPlan> plan_fork(ForkRequest request) const;
  Result<bool> rehearse_some(ForkPlan& plan) const;
  void rehearse(const std::shared_ptr<ForkPlan>& plan,
                std::function<void(Result<Forked>)> accepted);
  Status write_fork(const std::shared_ptr<ForkPlan>& plan,
                    std::function<void(Result<Forked>)> accepted);
  void drive_fork(ForkPlan& plan, RunLease lease);

  EngineOptions options_;  // its store is `guarded_`
  std::unique_ptr<GuardedStore> guarded_;
  std::unique_ptr<ChildRuns> children_;
  std::shared_ptr<ConversationMemory> memory_;  // outlives the drivers
  std::map<RunId, std::shared_ptr<Driver>> drivers_;
  std::map<RunId, std::shared_ptr<TakingUp>> taking_up_;
  std::function<void(const RunId&, const Status&)> ended_;
  std::shared_ptr<Driver> leaving_;
  std::map<std::uint64_t, RunEventSink> sinks_;
  std::uint64_t sinks_made_ = 0;
  std::uint64_t version_seen_ = 0;
  struct Wake {
    std::unique_ptr<Timer> timer;
    WaitFor wait = WaitFor::nothing;
    std::int64_t due_ms = 0;  // by the wall's clock
  };
  std::map<RunId, Wake> wakes_;
  std::map<RunId, StatusCallback> deciding_;  // runs that are let go when they have decided
  std::map<RunId, InvocationServices> lent_;  // to runs that were started here and are not over
  std::unique_ptr<Timer> poll_timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// 20 characters: milliseconds, then random bits. Sorts by time.
RunId make_run_id(std::int64_t wall_ms);

}  // namespace pawl
