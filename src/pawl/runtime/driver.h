// Drives one run: feeds events to the kernel, appends the records, performs the effects once their
// intents are durable. It decides nothing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pawl/kernel/codec.h"
#include "pawl/kernel/kernel.h"
#include "pawl/port/byte_filter.h"
#include "pawl/port/journal.h"
#include "pawl/port/loop.h"
#include "pawl/port/upkeep.h"
#include "pawl/runtime/agent.h"
#include "pawl/runtime/callbacks.h"
#include "pawl/runtime/effects_under_way.h"
#include "pawl/runtime/ingress.h"
#include "pawl/runtime/reply_assembler.h"
#include "pawl/runtime/run_event.h"
#include "pawl/runtime/run_loader.h"
#include "pawl/runtime/tool_registry.h"

namespace pawl {

// The parts of a store, usually one object.
struct Store {
  Journal* journal = nullptr;
  JournalReader* reader = nullptr;
  Catalog* catalog = nullptr;
  Inbox* inbox = nullptr;
  Upkeep* upkeep = nullptr;  // these three only where the store offers them
  Copier* copier = nullptr;
  Retention* retention = nullptr;
};

// A snapshot is taken when the records since the last one have at least this many bytes, and four
// times as many as it has itself: so they never make growth quadratic.
inline constexpr std::uint64_t kSnapshotBytesMin = 1U << 20U;
// A run that is ending is left when its store has written nothing for so long, as on a full disk:
// limits and cancellations end its tools in time, written down or not.
inline constexpr std::int64_t kUnwrittenEndMs = 5'000;
// What the error says with which it is let go then.
inline constexpr const char* kUnwrittenEnd = "has ended, and its store could not write that down";

struct DriverServices {
  Loop& loop;
  Store store;
  const CallbackRegistry& callbacks;
  RunEventSink publish;
  std::function<bool()> is_watched = nullptr;  // whether anybody sees what is published; or always
  std::uint64_t snapshot_bytes_min = kSnapshotBytesMin;
  std::shared_ptr<const ByteFilter> filter = nullptr;  // of all that comes from outside
};

// One run's circumstances, in this process.
struct DriverSetup {
  RunnableAgent agent;
  ToolRegistry tools;
  std::string instructions;  // rendered
  std::optional<Schema> output_schema;
  std::vector<McpServerConfig> mcp_servers;  // of the executor's own
  std::shared_ptr<const InvocationContext> context;
  Drive drive;
  LoadedRun loaded;
};

// A snapshot of a state that is too large to be encoded in one callback. It is stored with the
// record that is appended next, once it is ready.
struct SnapshotUnderWay {
  std::uint64_t seq = 0;
  Digest chain;
  SnapshotEncoder encoder;
  enum class Encoded : std::uint8_t { in_part, whole } encoded = Encoded::in_part;
};
// Entries of conversations that are encoded in one callback: about 100 microseconds.
inline constexpr std::size_t kSnapshotSliceEntries = 2'000;

class Driver : public std::enable_shared_from_this<Driver> {
 public:
  // Called once, when this driver has nothing more to do: the run is over, or it waits, or (error)
  // the store failed it.
  using Ended = std::function<void(Status)>;

  Driver(DriverServices services, DriverSetup setup, Ended ended);
  ~Driver();

  // The first event of a new run. `accepted` is called when it is durable.
  void begin(RunStarted event, std::vector<StoredBlob> blobs, StatusCallback accepted);
  // Goes on with a run that was written whole by this process: performs what its last record asks
  // for, which nobody has done.
  void go_on(const Record& last);
  // Takes an existing run up.
  void attach(const std::string& by);
  // Looks for messages of other processes.
  void take_inbox();
  // Feeds an event of the host's own. conflict: the kernel refused it.
  // What has passed the filter before says so: its handles are real.
  enum class Filtered : std::uint8_t { no, yes };
  Status feed(Event event, std::vector<StoredBlob> blobs = {}, Filtered filtered = Filtered::no);

  const Run& run() const { return loaded_.run; }
  const RunId& id() const { return id_; }
  std::uint64_t checked_from() const { return loaded_.checked_from; }

 private:
  struct Pending;

  // An event and its record, without what follows from where the run stands then.
  Status take(Event&& event, std::vector<StoredBlob>&& blobs, Filtered filtered = Filtered::no);
  Status settle();
  Stamp now() const;
  void append(std::shared_ptr<const RecordView> view, std::vector<StoredBlob> blobs);
  void leave_store(const Status& thrown);
  std::optional<RunSummary> changed_summary();
  std::optional<StoredSnapshot> due_snapshot();
  void encode_more(const std::shared_ptr<SnapshotUnderWay>& snapshot);
  void on_appended(const std::shared_ptr<const RecordView>& view, const Status& status);
  void publish(const RunEvent& event);
  void log(std::string text);
  void arm_timer();
  void watch_ending();
  void end(Status status);
  void end_unreadable(const Error& error);

  void inbox_failed(const Error& error);
  void drop_refused();
  void take_back_end(const Record& refused, EffectId effect);
  void note_summary();

  // Effects. `record` is the one that holds the intent.
  void perform(const Record& record, const CallModel& effect);
  void perform(const Record& record, const RunTool& effect);
  void perform(const Record& record, const AskStatus& effect);
  void perform(const Record& record, const AbortEffect& effect);
  void perform(const Record& record, const BeginAgent& effect);
  void perform(const Record& record, const EndAgent& effect);
  void perform(const Record& record, const CompactContext& effect);
  void perform(const Record& record, const JudgeCall& effect);

  // Permission: see driver_permission.cc.
  ProposedPlan plan_of(InstanceId instance, std::vector<ProposedCall> calls) const;
  void judge_calls(InstanceId instance, std::vector<Block>& blocks,
                   const std::function<std::string(const Content&)>& bytes_of);
  // For executors that run tools themselves: they cannot wait for a person.
  std::function<HookDecision(const std::string&, const std::string&)> native_hook(
      InstanceId instance) const;
  Status prepare(Event& event);
  Status prepare(MessageReceived& event);
  std::string for_the_model(std::string text, const std::string& tool) const;
  std::shared_ptr<const RecordView> for_the_stream(std::shared_ptr<const RecordView> view) const;
  Status prepare(ExternalTurnPushed& event);
  Status prepare(CallDecided& event);
  Status verify_signature(CallDecided& event) const;
  Result<std::vector<ProposedCall>> calls_beside(const Record& record, CallId id) const;
  void finish_judging(const JudgeCall& effect, CallJudgement judgement);
  std::optional<CallJudgement> objection(const Record& record, const RunTool& effect,
                                         const ToolInvocation& invocation);
  bool is_unseen(CallId id, const CallJudgement& judgement) const;
  void judge_edited(const RunTool& effect, ToolInvocation invocation);

  // A secret may come in pieces: what could be the beginning of one is held back until it is clear.
  struct PreviewStream {
    std::unique_ptr<ByteStream> bytes;
    std::uint64_t offset = 0;  // counts what was shown
  };
  std::string filtered(std::string text) const;
  void show(const CallModel& effect, Preview::Kind kind, std::uint64_t offset, std::string text);
  void show_filtered(const CallModel& effect, Preview::Kind kind, PreviewStream& stream,
                     std::string text);

  bool is_open(EffectId effect) const;
  Result<std::string> input_text() const;
  PhaseExecutionRequest request_for(const CallModel& effect) const;
  void call_executor(const CallModel& effect, PhaseExecutionRequest&& request);
  void on_phase_event(const CallModel& effect, PhaseExecutorEvent&& event);
  void on_phase_done(const CallModel& effect);
  void fit(PhaseExecutionRequest& request, const ExecutorCapabilities& bits);
  std::optional<PhaseFailed> misfit(const CallModel& effect, const PhaseExecutionRequest& request,
                                    const ExecutorCapabilities& bits) const;
  std::string output_fault(const ModelReplied& reply, const std::string& text) const;
  std::optional<std::uint64_t> stated_cost(const std::string& model, const Usage& usage) const;
  void finish_compaction(const CompactContext& effect, CompactionOutcome outcome);
  void finish_model(Event&& event, Ingress&& ingress, Filtered filtered = Filtered::no);
  Result<ToolInvocation> invocation_for(const Record& record, CallId call, std::uint32_t attempt);
  void start_tool(const RunTool& effect, Tool& tool, ToolInvocation&& invocation);
  void invoke_tool(const RunTool& effect, Tool& tool, ToolInvocation&& invocation);
  void finish_tool(const RunTool& effect, const std::string& tool, const std::string& input,
                   ToolOutcome&& outcome);
  void report_tool(const RunTool& effect, ToolEnd end, ToolOutcome&& outcome, Origin origin,
                   std::optional<std::string> callback_stop = {});
  void report_late(const RunTool& effect, ToolEnd end, ToolOutcome&& outcome);
  void answer_tool(const RunTool& effect, ToolEnd end, std::string text, Origin origin);
  void report_thrown(HookPoint point, const HookAnswer& answer);
  bool report_hook(HookPoint point, EffectId effect, const HookAnswer& answer);
  void retire(EffectId effect);

  DriverServices services_;
  DriverSetup setup_;
  LoadedRun& loaded_;  // of the setup
  RunId id_;
  Ended ended_;
  StatusCallback accepted_;
  std::int64_t monotonic_base_ms_ = 0;
  std::uint64_t elapsed_base_ms_ = 0;
  std::uint64_t epochs_before_ = 0;  // of a run that was driven in another store
  std::uint64_t appends_open_ = 0;
  std::uint64_t durable_length_ = 0;
  std::optional<std::uint64_t> timer_due_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Timer> ending_timer_;
  EffectsUnderWay<std::unique_ptr<Operation>> operations_;
  std::vector<std::unique_ptr<Operation>> retired_;  // until the loop comes back
  EffectsUnderWay<std::unique_ptr<ReplyAssembler>> replies_;
  std::map<EffectId, std::map<Preview::Kind, PreviewStream>> previews_;
  EffectsUnderWay<std::shared_ptr<std::atomic<bool>>> stops_;
  const std::shared_ptr<std::optional<Error>> unreadable_ =
      std::make_shared<std::optional<Error>>();  // what a transcript could not read
  std::set<std::uint64_t> inbox_seen_;           // rows that were fed or refused
  std::vector<std::uint64_t> inbox_to_remove_;   // with the next append
  std::shared_ptr<SnapshotUnderWay> snapshot_;
  std::uint64_t ends_refused_ = 0;
  std::string summary_status_;
  std::string summary_reason_;
  bool over_ = false;
};

}  // namespace pawl
