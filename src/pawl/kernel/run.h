// The state of a run: a tree of instances, what is under way, what was used. Only
// the kernel changes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pawl/kernel/decisions.h"
#include "pawl/kernel/events.h"
#include "pawl/kernel/flow_state.h"
#include "pawl/kernel/instance_phase.h"

namespace pawl {

// One message of a transcript, by reference: the content stays in the journal.
enum class EntryKind : std::uint8_t {
  input,
  past,
  message,
  assistant,
  tool_result,
  note,
  ceded,
  summary,  // of what stood before it
  trimmed,  // what stood before it is gone
  opening,  // of a node that was entered afresh
};
std::string_view name(EntryKind value);
template <>
inline constexpr std::uint8_t kCount<EntryKind> = 10;

struct Entry {
  EntryKind kind = EntryKind::input;
  std::uint64_t seq = 0;  // the record that holds it
  std::uint64_t number =
      0;  // tool_result: the call; past: the index; note: which; message: files; trimmed: how many;
          // input, opening, ceded: the instance, where the run has nodes
  std::uint64_t tokens = 0;  // by estimate

  PAWL_FACT(Entry, "entry", PAWL_FIELD(kind) PAWL_FIELD(seq) PAWL_FIELD(number) PAWL_FIELD(tokens));
};

// What no cut takes away.
bool is_pinned(const Entry& entry);

enum class WrapUp : std::uint8_t { not_asked, asked };
std::string_view name(WrapUp value);
template <>
inline constexpr std::uint8_t kCount<WrapUp> = 2;

struct LoopGuard {
  std::uint64_t call_fingerprint = 0;
  std::uint32_t identical_calls = 0;
  std::uint64_t step_fingerprint = 0;
  std::uint32_t identical_steps = 0;
  std::uint32_t tool_errors = 0;

  PAWL_FACT(LoopGuard, "loop_guard",
            PAWL_FIELD(call_fingerprint) PAWL_FIELD(identical_calls) PAWL_FIELD(step_fingerprint)
                PAWL_FIELD(identical_steps) PAWL_FIELD(tool_errors));
};

// Messages that replace each other while they wait.
struct Singleton {
  std::string key;
  std::uint64_t seq = 0;    // the record of the last
  std::uint64_t count = 0;  // of all

  PAWL_FACT(Singleton, "singleton", PAWL_FIELD(key) PAWL_FIELD(seq) PAWL_FIELD(count));
};

struct Instance {
  InstanceId id = kRootInstance;
  InstanceId parent = kRootInstance;  // the root is its own parent
  std::string node;
  Phase phase;
  std::uint64_t open_step = 0;  // the step it is in; 0 between steps
  std::uint64_t position = 0;   // model calls whose outcome is journaled
  std::uint32_t attempts = 0;   // model calls made in the open step
  std::vector<Entry> transcript;
  std::vector<Entry> waiting_messages;     // for its next step
  std::optional<std::uint64_t> last_text;  // record of the last text it wrote
  WrapUp wrap_up = WrapUp::not_asked;
  LoopGuard guard;
  std::vector<ProviderSession> sessions;
  std::uint32_t target = 0;             // which is tried next, in the open step
  std::vector<TargetFailure> failures;  // of the open step
  std::uint64_t context_tokens = 0;     // of its next request
  std::uint64_t compacted_in_step = 0;  // once a step is enough
  std::uint32_t attachments = 0;        // images and files in its conversation
  std::uint32_t repairs = 0;            // how often its answer was asked for again
  // Of a run whose charter has nodes.
  NodeKind kind = NodeKind::primary;
  std::string name = {};                 // in its parent's node
  std::string state = {};                // JSON; empty: it has none
  std::uint64_t state_changes = 0;       // of it
  std::uint64_t state_shown = 0;         // how many there had been when a model was asked last
  std::uint64_t proposals = 0;           // of its model, to the owner of its state
  std::uint64_t node_position = 0;       // as `position`, since it entered its node
  std::uint64_t node_steps = 0;          // begun since it entered its node
  std::uint32_t depth = 0;               // ancestors
  std::uint32_t workers = 0;             // live ones of its own
  std::optional<InstanceId> child = {};  // a live primary one, which acts in its place
  std::vector<Entry> contents = {};      // handed to it by children, for its next step
  std::optional<Leave> leave = {};
  Entry told = {};          // its first message
  Content last_words = {};  // the last text it wrote
  // Of any run: what is special about the messages that wait.
  std::uint32_t silent_messages = 0;           // which wake nobody
  Presence urgent_message = Presence::absent;  // for which its model call is interrupted
  std::vector<Singleton> singletons = {};
  std::optional<Seat> seat = {};  // what it does for a phase of a flow

  PAWL_FACT(Instance, "instance",
            PAWL_FIELD(id) PAWL_FIELD(parent) PAWL_FIELD(node) PAWL_FIELD(phase)
                PAWL_FIELD(open_step) PAWL_FIELD(position) PAWL_FIELD(attempts)
                    PAWL_FIELD(transcript) PAWL_FIELD(waiting_messages) PAWL_FIELD(last_text)
                        PAWL_FIELD(wrap_up) PAWL_FIELD(guard) PAWL_FIELD(sessions)
                            PAWL_FIELD(target) PAWL_FIELD(failures) PAWL_FIELD(context_tokens)
                                PAWL_FIELD(compacted_in_step) PAWL_FIELD(attachments)
                                    PAWL_FIELD(repairs) PAWL_FIELD(kind) PAWL_FIELD(name)
                                        PAWL_FIELD(state) PAWL_FIELD(state_changes)
                                            PAWL_FIELD(state_shown) PAWL_FIELD(proposals)
                                                PAWL_FIELD(node_position) PAWL_FIELD(node_steps)
                                                    PAWL_FIELD(depth) PAWL_FIELD(workers)
                                                        PAWL_FIELD(child) PAWL_FIELD(contents)
                                                            PAWL_FIELD(leave) PAWL_FIELD(told)
                                                                PAWL_FIELD(last_words)
                                                                    PAWL_FIELD(silent_messages)
                                                                        PAWL_FIELD(urgent_message)
                                                                            PAWL_FIELD(singletons)
                                                                                PAWL_FIELD(seat));
};

// States of a call, from its opening until its result is taken.
struct CallWaiting {  // to go on once effects may start
  HeldFor held_for = HeldFor::run;

  PAWL_FACT(CallWaiting, "held", PAWL_FIELD(held_for));
};
struct CallRunning {
  EffectId effect{};

  PAWL_FACT(CallRunning, "running", PAWL_FIELD(effect));
};
struct CallAsking {
  EffectId effect{};

  PAWL_FACT(CallAsking, "asking", PAWL_FIELD(effect));
};
struct CallDoubtful {
  PAWL_FACT(CallDoubtful, "in_doubt");
};
struct CallEnded {
  std::uint64_t seq = 0;     // the record that holds its result
  std::uint64_t tokens = 0;  // of it, by estimate
  Presence success = Presence::absent;

  PAWL_FACT(CallEnded, "ended", PAWL_FIELD(seq) PAWL_FIELD(tokens) PAWL_FIELD(success));
};
struct CallJudging {
  EffectId effect{};

  PAWL_FACT(CallJudging, "judging", PAWL_FIELD(effect));
};
struct CallAwaitingPerson {
  InterruptKind kind = InterruptKind::approval;
  Digest binding;
  std::int64_t expires_at_ms = 0;
  std::uint64_t expires_elapsed_ms = 0;
  std::uint64_t seq = 0;  // the record that asks, with reason and rule

  PAWL_FACT(CallAwaitingPerson, "awaiting_person",
            PAWL_FIELD(kind) PAWL_FIELD(binding) PAWL_FIELD(expires_at_ms)
                PAWL_FIELD(expires_elapsed_ms) PAWL_FIELD(seq));
};
struct CallSuspending {  // its result is what its instance is told when it is resumed
  PAWL_FACT(CallSuspending, "suspending");
};
// DO NOT REORDER: the index is embedded in snapshots.
using CallState = std::variant<CallWaiting, CallRunning, CallAsking, CallDoubtful, CallEnded,
                               CallJudging, CallAwaitingPerson, CallSuspending>;

struct Call {
  CallId id{};
  InstanceId instance = kRootInstance;
  std::string tool;
  std::uint64_t seq = 0;    // the record of the reply that asked for it
  std::uint32_t index = 0;  // of its block in that reply
  std::uint32_t attempts = 0;
  CallState state;
  EffectId last_run{};                       // its latest attempt
  std::optional<std::uint64_t> late_result;  // the record of what that attempt reported too late
  std::optional<Digest> approved;        // what a person approved: this and nothing else may run
  std::optional<std::uint64_t> edited;   // the record of the arguments they put in its place
  ToolScope scope = ToolScope::charter;  // where the definition stands, as in PinnedTool
  std::string owner = {};

  PAWL_FACT(Call, "call",
            PAWL_FIELD(id) PAWL_FIELD(instance) PAWL_FIELD(tool) PAWL_FIELD(seq) PAWL_FIELD(index)
                PAWL_FIELD(attempts) PAWL_FIELD(state) PAWL_FIELD(last_run) PAWL_FIELD(late_result)
                    PAWL_FIELD(approved) PAWL_FIELD(edited) PAWL_FIELD(scope) PAWL_FIELD(owner));
};

// How often people were asked, so that a run does not bury them in questions.
struct QuestionHour {
  std::int64_t since_ms = 0;
  std::uint64_t asked = 0;

  // How many count at a time. A clock that was set back does not begin another hour.
  std::uint64_t asked_by(std::int64_t at_ms) const;

  PAWL_FACT(QuestionHour, "question_hour", PAWL_FIELD(since_ms) PAWL_FIELD(asked));
};

// What people have said no to, and how often; the latest last.
struct Denial {
  Digest binding;
  std::uint32_t times = 0;

  PAWL_FACT(Denial, "denial", PAWL_FIELD(binding) PAWL_FIELD(times));
};

enum class EffectKind : std::uint8_t {
  model,
  tool,
  status,
  begin_agent,
  end_agent,
  compact,
  judge,
  ask_money,  // these two are answered by the run that started this one
  ask_place,
};
std::string_view name(EffectKind value);
template <>
inline constexpr std::uint8_t kCount<EffectKind> = 9;

struct OpenEffect {
  EffectId id{};
  EffectKind kind = EffectKind::model;
  InstanceId instance = kRootInstance;
  CallId call{};

  PAWL_FACT(OpenEffect, "open_effect",
            PAWL_FIELD(id) PAWL_FIELD(kind) PAWL_FIELD(instance) PAWL_FIELD(call));
};

// Where the run as a whole is heading.
struct Going {
  PAWL_FACT(Going, "going");
};
struct Pausing {
  PAWL_FACT(Pausing, "pausing");
};
struct Ending {
  RunStatus status = RunStatus::done;
  StopReason reason = StopReason::end_turn;
  std::string detail;
  std::uint64_t since_elapsed_ms = 0;
  std::uint64_t step = 0;
  Presence pause = Presence::absent;  // it was pausing: if the end is withdrawn, it is so again

  PAWL_FACT(Ending, "ending",
            PAWL_FIELD(status) PAWL_FIELD(reason) PAWL_FIELD(detail) PAWL_FIELD(since_elapsed_ms)
                PAWL_FIELD(step) PAWL_FIELD(pause));
};
using Course = std::variant<Going, Pausing, Ending>;

struct NotStarted {
  PAWL_FACT(NotStarted, "not_started");
};
struct Live {
  PAWL_FACT(Live, "live");
};
struct Finished {
  std::optional<std::uint64_t> output;  // the record that holds the output

  PAWL_FACT(Finished, "finished", PAWL_FIELD(output));
};
using Life = std::variant<NotStarted, Live, Finished>;

// Whether the last record says that the run waits.
enum class Parked : std::uint8_t { no, yes };
std::string_view name(Parked value);
template <>
inline constexpr std::uint8_t kCount<Parked> = 2;

// The state of a pack, one for the run.
struct PackState {
  std::string name;
  std::string state;  // JSON
  std::uint64_t changes = 0;

  PAWL_FACT(PackState, "pack_state", PAWL_FIELD(name) PAWL_FIELD(state) PAWL_FIELD(changes));
};

// A child that starts with its parent's node, and for which there is no room yet.
struct PendingBirth {
  InstanceId parent = kRootInstance;
  std::string child;

  PAWL_FACT(PendingBirth, "pending_birth", PAWL_FIELD(parent) PAWL_FIELD(child));
};

struct RunState {
  RunId id;
  std::string tenant;
  std::string name;
  std::string model;
  std::string directory;
  std::uint32_t semantics = 1;
  Digest charter_digest;
  Limits limits;
  Guards guards;
  RetryPolicy retry;
  Prices prices;
  std::vector<PinnedTool> tools;
  std::string started_by;
  Approvers approvers = Approvers::anyone;
  std::int64_t started_at_ms = 0;
  std::optional<ForkedFrom> forked_from;
  std::vector<ModelTarget> targets;  // never empty once it started
  std::uint64_t base_tokens = 0;
  std::uint64_t output_tokens = 0;
  CompactionPolicy compaction;
  Life life;
  Course course;
  std::vector<Instance> instances;  // the root first; parents before children
  std::vector<Call> calls;          // opened and not yet taken, by number
  std::vector<OpenEffect> open;
  Presence begin_held = Presence::absent;  // before-agent callbacks, to run once effects may start
  std::vector<Denial> denials;
  QuestionHour question_hour;
  Parked parked = Parked::no;
  Tally tally;
  std::uint64_t calls_minted = 0;
  std::uint64_t effects_minted = 0;
  std::uint32_t instances_minted = 0;
  std::uint64_t length = 0;  // records folded
  std::uint64_t epoch = 0;
  std::uint64_t elapsed_ms = 0;  // of the last record
  std::int64_t at_ms = 0;        // likewise, wall time
  // Of a charter with nodes; none: the run has one, and the charter says all of it.
  std::vector<NodeSpec> nodes = {};
  std::vector<PackSpec> packs = {};
  std::vector<PackState> pack_states = {};         // of the packs that have one, by name
  std::vector<PendingBirth> births = {};           // the oldest first
  std::uint32_t ended = 0;                         // instances that are still listed
  std::uint32_t ended_calls = 0;                   // likewise, calls of such instances
  std::optional<std::uint64_t> final_output = {};  // the record that holds it, while workers go on
  // Runs beneath this one and above it.
  std::vector<AgentSpec> agents = {};  // by name, without their charters
  Presence adhoc_agents = Presence::absent;
  SubagentBounds subagents = {};
  std::vector<Ancestor> lineage = {};
  std::vector<ChildRun> children = {};  // by the number of their calls
  std::uint32_t runs_settled = 0;       // beneath it that are over
  Presence asks_parent = Presence::absent;
  TreeBounds allowed = {};    // by the run that started this one
  TreeBooks told_books = {};  // what it was told last
  TreeBounds told_held = {};
  FlowState flow = {};
  WorkState work = {};

  PAWL_FACT(
      RunState, "run_state",
      PAWL_FIELD(id) PAWL_FIELD(tenant) PAWL_FIELD(name) PAWL_FIELD(model) PAWL_FIELD(directory)
          PAWL_FIELD(semantics) PAWL_FIELD(charter_digest) PAWL_FIELD(limits) PAWL_FIELD(
              guards) PAWL_FIELD(retry) PAWL_FIELD(prices) PAWL_FIELD(tools) PAWL_FIELD(started_by)
              PAWL_FIELD(approvers) PAWL_FIELD(started_at_ms) PAWL_FIELD(forked_from) PAWL_FIELD(
                  targets) PAWL_FIELD(base_tokens) PAWL_FIELD(output_tokens) PAWL_FIELD(compaction)
                  PAWL_FIELD(life) PAWL_FIELD(course) PAWL_FIELD(instances) PAWL_FIELD(calls)
                      PAWL_FIELD(open) PAWL_FIELD(begin_held) PAWL_FIELD(denials)
                          PAWL_FIELD(question_hour) PAWL_FIELD(parked) PAWL_FIELD(tally) PAWL_FIELD(
                              calls_minted) PAWL_FIELD(effects_minted) PAWL_FIELD(instances_minted)
                              PAWL_FIELD(length) PAWL_FIELD(epoch) PAWL_FIELD(elapsed_ms)
                                  PAWL_FIELD(at_ms) PAWL_FIELD(nodes) PAWL_FIELD(packs)
                                      PAWL_FIELD(pack_states) PAWL_FIELD(births) PAWL_FIELD(ended)
                                          PAWL_FIELD(ended_calls) PAWL_FIELD(final_output)
                                              PAWL_FIELD(agents) PAWL_FIELD(adhoc_agents)
                                                  PAWL_FIELD(subagents) PAWL_FIELD(lineage)
                                                      PAWL_FIELD(children) PAWL_FIELD(runs_settled)
                                                          PAWL_FIELD(asks_parent)
                                                              PAWL_FIELD(allowed)
                                                                  PAWL_FIELD(told_books)
                                                                      PAWL_FIELD(told_held)
                                                                          PAWL_FIELD(flow)
                                                                              PAWL_FIELD(work));
};

struct Record;

// What is set aside for model calls and compactions under way, where a budget asks for it. It
// follows from the state and is kept beside it: no event looks at every instance for it.
struct Reserved {
  __extension__ using Sum = unsigned __int128;  // of any number of amounts, and exact
  Sum pico = 0;
  Sum tokens = 0;

  void add(const Reserved& other) {
    pico += other.pico;
    tokens += other.tokens;
  }
  void subtract(const Reserved& other) {
    pico -= other.pico;
    tokens -= other.tokens;
  }
  friend bool operator==(const Reserved&, const Reserved&) = default;
};
// Whether a budget asks for anything to be set aside.
bool reserves(const RunState& state);
// For an instance in this phase.
Reserved reserved_in(const RunState& state, const Phase& phase);

// Readable by everybody, changed by nobody but the kernel (apply.h).
class Run {
 public:
  const RunState& state() const { return state_; }
  const RunState* operator->() const { return &state_; }
  const Reserved& reserved() const { return reserved_; }

  friend bool operator==(const Run&, const Run&) = default;

 private:
  friend class Applier;
  friend Result<Run> decode_snapshot(std::string_view bytes);
  RunState state_;
  Reserved reserved_;
};

// By binary search: instances, calls and effects are in the order of their numbers.
const Instance* find_instance(const RunState& state, InstanceId id);
const Call* find_call(const RunState& state, CallId id);
const PinnedTool* find_tool(const RunState& state, std::string_view tool);
const OpenEffect* find_effect(const RunState& state, EffectId id);

// Where the run stands, in the words of its users.
RunStatus status_of(const RunState& state);
WaitFor waits_for(const RunState& state);
StopReason stop_reason_of(const RunState& state);  // meaningful once it is ending
// True while nothing is under way and nothing is due by itself: somebody must act.
bool is_waiting(const RunState& state);
// True while nothing is under way: it waits, or backs off before it asks a model again. Such time
// is no work, and no limit on time counts it.
bool is_idle(const RunState& state);
// Calls of which nobody knows what they did. A run that is over keeps those it left behind.
std::vector<CallId> calls_in_doubt(const RunState& state);

// Calls that wait for a person, in the order they were asked for.
std::vector<CallId> calls_awaiting_person(const RunState& state);

// True when a RunWaiting is to be recorded: it waits, and the journal does not say so yet.
bool wants_park(const RunState& state);

// When time alone changes something: a TimerFired is due at this elapsed run time.
std::optional<std::uint64_t> wake_at(const RunState& state);

// When a run that waits goes on by itself, in wall time: a provider's rate limit is over, or nobody
// has answered in time.
std::optional<std::int64_t> wake_wall_at(const RunState& state);

// Of the target that an open model call or compaction goes to; of the first one otherwise.
const Prices& prices_of(const RunState& state, InstanceId instance);

// --- The tree ----------------------------------------------------------------------------------

bool has_nodes(const RunState& state);
bool is_live(const Instance& instance);
// A message waits for it, and not only silent ones.
bool has_news(const Instance& instance);
// Where messages and commands go that name nobody: the acting primary, or the deepest live one.
InstanceId default_target(const RunState& state);
// Instances that are alive.
std::size_t live_count(const RunState& state);
// Of a run that has nodes.
const NodeSpec& node_of(const RunState& state, const Instance& instance);
// Primary instances do, and those that carry out a phase.
bool sees_packs(const Instance& instance);
const PackState* find_pack_state(const std::vector<PackState>& states, std::string_view pack);
// Of the conversations that an instance begins with in its node.
std::uint64_t base_tokens_of(const RunState& state, const Instance& instance);
// The models that the instance is asked of, as places in the run's list: the first, and the one
// behind another; nullopt: none.
std::uint32_t first_target(const RunState& state, const Instance& instance);
std::optional<std::uint32_t> target_after(const RunState& state, const Instance& instance,
                                          std::uint32_t target);
// Who waits to be resumed, for RunWaiting; none where the run has no nodes.
std::vector<SuspendedInstance> suspended_in(const RunState& state);
// The tool that an instance means by a name: the nearest definition that it may call; or nullptr.
const PinnedTool* tool_in_scope(const RunState& state, const Instance& instance,
                                std::string_view name);
// A child that starts with its node waits for room.
bool awaits_birth(const RunState& state, InstanceId parent);
// The definition of a tool that stands in one place, and the one that a call was opened for.
const PinnedTool* find_definition(const RunState& state, std::string_view name, ToolScope scope,
                                  std::string_view owner);
const PinnedTool* tool_of_call(const RunState& state, const Call& call);
const ProviderSession* find_session(const Instance& instance, std::string_view provider);

// The idempotency key of a call: H(tenant, run, call number), in hexadecimal. It depends on nothing
// else, so it survives crashes, drivers, retries and upgrades.
std::string key_of(const RunState& state, CallId call);

}  // namespace pawl
