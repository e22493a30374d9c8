// Facts, past tense: everything that can happen to a run. Each has the name it has in JSON and the
// list of its fields, from which codec and printer are made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/kernel/agent_facts.h"
#include "pawl/kernel/agent_spec.h"
#include "pawl/kernel/command_facts.h"
#include "pawl/kernel/flow_facts.h"
#include "pawl/kernel/flow_spec.h"
#include "pawl/kernel/node_spec.h"
#include "pawl/kernel/presence.h"
#include "pawl/kernel/retry.h"
#include "pawl/kernel/rules.h"
#include "pawl/kernel/target.h"
#include "pawl/kernel/tree_facts.h"
#include "pawl/limits.h"
#include "pawl/words.h"

namespace pawl {

// What a run keeps of a tool for its whole life, whatever happens to the charter's file.
struct PinnedTool {
  std::string name;
  EffectClass effect = EffectClass::once;
  OnDoubt on_doubt = OnDoubt::wait;
  Digest definition;  // of the whole ToolSpec
  EndsTurn ends_turn = EndsTurn::no;
  ToolScope scope = ToolScope::charter;  // where it stands: instances in its scope have it
  std::string owner = {};                // the node or the pack that it stands in

  PAWL_FACT(PinnedTool, "tool",
            PAWL_FIELD(name) PAWL_FIELD(effect) PAWL_FIELD(on_doubt) PAWL_FIELD(definition)
                PAWL_FIELD(ends_turn) PAWL_FIELD(scope) PAWL_FIELD(owner));
};

// Why an input processor of the host's would not let the input in.
struct InputBlocked {
  std::string processor;
  std::string reason;

  PAWL_FACT(InputBlocked, "input_blocked", PAWL_FIELD(processor) PAWL_FIELD(reason));
};

struct PastMessage {
  Speaker speaker = Speaker::user;
  Content text;

  PAWL_FACT(PastMessage, "past_message", PAWL_FIELD(speaker) PAWL_FIELD(text));
};

struct Variable {
  std::string key;
  std::string value;

  PAWL_FACT(Variable, "variable", PAWL_FIELD(key) PAWL_FIELD(value));
};

// Where a fork comes from: its records up to number `seq` are those of `run`, decided again.
struct ForkedFrom {
  RunId run;
  std::uint64_t seq = 0;
  Digest chain;                     // of `run` after that record
  std::vector<std::string> edited;  // what was changed on the way, such as "input" or "c3"

  PAWL_FACT(ForkedFrom, "forked_from",
            PAWL_FIELD(run) PAWL_FIELD(seq) PAWL_FIELD(chain) PAWL_FIELD(edited));
};

// A policy of the user's that a run was accepted within, and is held to as long as it lives.
struct AcceptedPolicy {
  std::string file;
  Content source;  // JSON

  PAWL_FACT(AcceptedPolicy, "accepted_policy", PAWL_FIELD(file) PAWL_FIELD(source));
};

// A file of the host's as it was when the run began.
struct PinnedFile {
  std::string path;
  Digest digest;

  PAWL_FACT(PinnedFile, "pinned_file", PAWL_FIELD(path) PAWL_FIELD(digest));
};

struct RunStarted {
  RunId run;
  std::string tenant = "default";
  std::string name;  // of the charter
  std::string started_by;
  std::uint32_t semantics = 1;
  Digest charter_digest;
  Content charter;        // its text as accepted
  std::string directory;  // the charter's: relative paths start there
  std::string node;
  std::string model;
  Limits limits;
  Guards guards;
  RetryPolicy retry;
  Prices prices;
  std::vector<PinnedTool> tools;
  std::vector<Variable> variables;
  std::vector<PastMessage> history;
  Content input;
  Presence agent_callbacks = Presence::absent;
  std::optional<ForkedFrom> forked_from;
  std::vector<ModelTarget> targets;  // in the order they are tried; none: `model` alone
  std::uint64_t base_tokens = 0;     // of instructions and tools, by estimate
  std::uint64_t output_tokens = 0;   // that a reply may have; 0: as the model says
  CompactionPolicy compaction;
  std::vector<Attachment> attachments;  // of the input
  std::optional<InputBlocked> blocked;  // it ends at once, and no model is called
  Approvers approvers = Approvers::anyone;
  // The invocation's context beside tenant, limits, variables and history.
  std::string identity;  // on whose behalf it runs
  std::string session_id;
  std::string trace_parent;
  std::vector<std::string> services;          // that the host lent, by name
  Presence limits_given = Presence::absent;   // `limits` are the invocation's, not the charter's
  std::vector<Signer> signers = {};           // whose signatures count
  std::string start_signature = {};           // by `started_by`, where approvers are `others`
  std::vector<AcceptedPolicy> policies = {};  // the outermost first
  Content project_docs = {};                  // what files of the project told the model
  std::vector<PinnedFile> files = {};         // policy, scripts, the host's programs
  Presence file_sessions = Presence::absent;  // sessions of the run may write files
  // In the order of their names; `node` is the root's. None: a run with one node.
  std::vector<NodeSpec> nodes = {};
  std::vector<PackSpec> packs = {};
  std::vector<PhaseSpec> phases = {};  // of a flow, in the order of the charter; none: no flow
  std::optional<GateSpec> gate = {};   // no gate: work items are not kept
  std::vector<AgentSpec> agents = {};  // in the order of their names
  Presence adhoc_agents = Presence::absent;  // run_subagent is offered
  SubagentBounds subagents = {};
  std::vector<Ancestor> lineage = {};  // the root of the tree of runs first; none: it is the root
  Presence asks_parent = Presence::absent;  // for money, before each call of a model

  PAWL_FACT(
      RunStarted, "run_started",
      PAWL_FIELD(run) PAWL_FIELD(tenant) PAWL_FIELD(name) PAWL_FIELD(started_by) PAWL_FIELD(
          semantics) PAWL_FIELD(charter_digest) PAWL_FIELD(charter) PAWL_FIELD(directory)
          PAWL_FIELD(node) PAWL_FIELD(model) PAWL_FIELD(limits) PAWL_FIELD(guards) PAWL_FIELD(retry)
              PAWL_FIELD(prices) PAWL_FIELD(tools) PAWL_FIELD(variables) PAWL_FIELD(history)
                  PAWL_FIELD(input) PAWL_FIELD(agent_callbacks) PAWL_FIELD(forked_from)
                      PAWL_FIELD(targets) PAWL_FIELD(base_tokens) PAWL_FIELD(output_tokens)
                          PAWL_FIELD(compaction) PAWL_FIELD(attachments) PAWL_FIELD(blocked)
                              PAWL_FIELD(approvers) PAWL_FIELD(identity) PAWL_FIELD(session_id)
                                  PAWL_FIELD(trace_parent) PAWL_FIELD(services)
                                      PAWL_FIELD(limits_given) PAWL_FIELD(signers)
                                          PAWL_FIELD(start_signature) PAWL_FIELD(policies)
                                              PAWL_FIELD(project_docs) PAWL_FIELD(files)
                                                  PAWL_FIELD(file_sessions) PAWL_FIELD(nodes)
                                                      PAWL_FIELD(packs) PAWL_FIELD(phases)
                                                          PAWL_FIELD(gate) PAWL_FIELD(agents)
                                                              PAWL_FIELD(adhoc_agents)
                                                                  PAWL_FIELD(subagents)
                                                                      PAWL_FIELD(lineage)
                                                                          PAWL_FIELD(asks_parent));
};

// A process took the run over: after a crash, or because it had been parked.
struct DriverAttached {
  std::string by;
  // Of a fork: this effect and those behind it are of the prefix's last record, and no process has
  // begun them. 0: none.
  EffectId unstarted_from{};

  PAWL_FACT(DriverAttached, "driver_attached", PAWL_FIELD(by) PAWL_FIELD(unstarted_from));
};

// The before-agent callbacks have run.
struct AgentBegan {
  EffectId effect{};
  HookVerdict verdict = HookVerdict::proceed;
  Content replacement;  // the output, when the verdict is replace
  std::string reason;   // when it is stop

  PAWL_FACT(AgentBegan, "agent_began",
            PAWL_FIELD(effect) PAWL_FIELD(verdict) PAWL_FIELD(replacement) PAWL_FIELD(reason));
};

struct ModelReplied {
  InstanceId instance = kRootInstance;
  EffectId effect{};
  std::vector<Block> blocks;
  Usage usage;
  ReplyStop stop = ReplyStop::end_turn;
  std::string stop_detail;
  std::string stop_metadata;  // JSON, for a suspend; may be empty
  std::string model;          // which answered
  std::string session;        // resume handle, for executors that have one
  Origin origin = Origin::executor;
  // Why an after_model callback asked for the run to stop: the reply, what it cost and the stop are
  // one fact, so that no call of the reply can start in between.
  std::optional<std::string> callback_stop;
  std::optional<std::uint64_t> cost_pico;  // by the provider's own account; else by the prices
  std::string output_fault;  // why the answer does not fit the run's output schema; or empty

  PAWL_FACT(ModelReplied, "model_replied",
            PAWL_FIELD(instance) PAWL_FIELD(effect) PAWL_FIELD(blocks) PAWL_FIELD(usage)
                PAWL_FIELD(stop) PAWL_FIELD(stop_detail) PAWL_FIELD(stop_metadata) PAWL_FIELD(model)
                    PAWL_FIELD(session) PAWL_FIELD(origin) PAWL_FIELD(callback_stop)
                        PAWL_FIELD(cost_pico) PAWL_FIELD(output_fault));
};

struct ModelFailed {
  InstanceId instance = kRootInstance;
  EffectId effect{};
  ErrorCategory category = ErrorCategory::llm_error;
  std::string message;
  std::optional<std::uint64_t> retry_after_ms;
  Usage usage;
  FailureKind kind = FailureKind::transient;
  Presence output = Presence::absent;  // some of its text had been shown

  PAWL_FACT(ModelFailed, "model_failed",
            PAWL_FIELD(instance) PAWL_FIELD(effect) PAWL_FIELD(category) PAWL_FIELD(message)
                PAWL_FIELD(retry_after_ms) PAWL_FIELD(usage) PAWL_FIELD(kind) PAWL_FIELD(output));
};

// The call was stopped because the run asked for it.
struct ModelAborted {
  InstanceId instance = kRootInstance;
  EffectId effect{};
  Usage usage;

  PAWL_FACT(ModelAborted, "model_aborted",
            PAWL_FIELD(instance) PAWL_FIELD(effect) PAWL_FIELD(usage));
};

enum class ToolEnd : std::uint8_t { succeeded, failed, timed_out, aborted, denied };

struct ToolFinished {
  InstanceId instance = kRootInstance;
  CallId call{};
  EffectId effect{};
  ToolEnd end = ToolEnd::succeeded;
  Content content;
  std::uint64_t content_length = 0;  // produced; more than content's when it was cut
  Origin origin = Origin::executor;
  std::optional<std::string> callback_stop;  // as in ModelReplied, by an after_tool callback
  std::optional<Content> user_reply = {};    // what people are told, where it is something else
  std::string level;                         // of isolation that was reached; empty: it has none
  EgressReport egress = {};
  std::optional<TreeBooks> books = {};  // of the run that the call had started
  RunStatus child = RunStatus::done;    // how that run has ended

  PAWL_FACT(ToolFinished, "tool_finished",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(effect) PAWL_FIELD(end)
                PAWL_FIELD(content) PAWL_FIELD(content_length) PAWL_FIELD(origin)
                    PAWL_FIELD(callback_stop) PAWL_FIELD(user_reply) PAWL_FIELD(level)
                        PAWL_FIELD(egress) PAWL_FIELD(books) PAWL_FIELD(child));
};

enum class StatusAnswer : std::uint8_t { done, absent, unknown };

// A reconcilable tool was asked by key what happened.
struct ToolStatusLearned {
  InstanceId instance = kRootInstance;
  CallId call{};
  EffectId effect{};
  StatusAnswer answer = StatusAnswer::unknown;
  Content content;

  PAWL_FACT(ToolStatusLearned, "tool_status_learned",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(effect) PAWL_FIELD(answer)
                PAWL_FIELD(content));
};

enum class DoubtVerdict : std::uint8_t { happened, did_not_happen };

struct DoubtResolved {
  InstanceId instance = kRootInstance;
  CallId call{};
  DoubtVerdict verdict = DoubtVerdict::happened;
  Content result;
  std::string by;
  // The attempt that was looked into. A verdict about an earlier one says nothing about a later
  // doubt: it may have waited in the inbox while the call was made again.
  std::uint32_t attempt = 1;

  PAWL_FACT(DoubtResolved, "doubt_resolved",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(verdict) PAWL_FIELD(result)
                PAWL_FIELD(by) PAWL_FIELD(attempt));
};

// When a message reaches the conversation.
enum class Delivery : std::uint8_t {
  next_step,
  urgent,  // a model call under way is interrupted for it
  silent,  // with the next step, and it wakes nobody
};

struct MessageReceived {
  InstanceId instance = kRootInstance;
  Content text;
  std::string from;
  std::vector<Attachment> attachments = {};
  Delivery delivery = Delivery::next_step;
  std::string singleton = {};  // of those that wait with this key only the last is delivered

  PAWL_FACT(MessageReceived, "message_received",
            PAWL_FIELD(instance) PAWL_FIELD(text) PAWL_FIELD(from) PAWL_FIELD(attachments)
                PAWL_FIELD(delivery) PAWL_FIELD(singleton));
};

struct PauseRequested {
  std::string by;

  PAWL_FACT(PauseRequested, "pause_requested", PAWL_FIELD(by));
};

struct ResumeRequested {
  std::string by;

  PAWL_FACT(ResumeRequested, "resume_requested", PAWL_FIELD(by));
};

struct CancelRequested {
  std::string by;
  std::string reason;

  PAWL_FACT(CancelRequested, "cancel_requested", PAWL_FIELD(by) PAWL_FIELD(reason));
};

// wake_at() has come: a retry is due, a deadline passed.
struct TimerFired {
  PAWL_FACT(TimerFired, "timer_fired");
};

// A callback of the host threw: reported, nothing more.
struct HookFailed {
  HookPoint point = HookPoint::before_agent;
  std::string message;

  PAWL_FACT(HookFailed, "hook_failed", PAWL_FIELD(point) PAWL_FIELD(message));
};

// A callback of the host asked for the run to stop.
struct HookStopped {
  HookPoint point = HookPoint::before_model;
  EffectId effect{};  // what it was asked about, if that is still open
  std::string reason;

  PAWL_FACT(HookStopped, "hook_stopped", PAWL_FIELD(point) PAWL_FIELD(effect) PAWL_FIELD(reason));
};

struct InstanceSpawned {
  InstanceId parent = kRootInstance;
  std::string node;
  Content input;

  PAWL_FACT(InstanceSpawned, "instance_spawned",
            PAWL_FIELD(parent) PAWL_FIELD(node) PAWL_FIELD(input));
};

struct InstanceResumed {
  InstanceId instance = kRootInstance;
  std::string suspend_id;
  std::string by;
  Content message = {};  // what it is told; may be empty

  PAWL_FACT(InstanceResumed, "instance_resumed",
            PAWL_FIELD(instance) PAWL_FIELD(suspend_id) PAWL_FIELD(by) PAWL_FIELD(message));
};

// The host answers a turn that was given to it (yield reason external).
struct ExternalTurnPushed {
  InstanceId instance = kRootInstance;
  std::vector<Block> blocks;
  Usage usage;
  std::string by;

  PAWL_FACT(ExternalTurnPushed, "external_turn_pushed",
            PAWL_FIELD(instance) PAWL_FIELD(blocks) PAWL_FIELD(usage) PAWL_FIELD(by));
};

// Nothing is under way and somebody must act: the run leaves memory.
struct RunWaiting {
  std::vector<SuspendedInstance> suspended = {};  // of a run that has nodes

  PAWL_FACT(RunWaiting, "run_waiting", PAWL_FIELD(suspended));
};

// The after-agent callbacks have run, and the run is over.
struct RunFinished {
  EffectId effect{};
  std::optional<Content> output;  // when a callback replaced it

  PAWL_FACT(RunFinished, "run_finished", PAWL_FIELD(effect) PAWL_FIELD(output));
};

// A tool reported about an attempt that had been given up: evidence for whoever decides about the
// call. It changes no outcome by itself, and the model is not shown it.
struct ResultCameLate {
  InstanceId instance = kRootInstance;
  CallId call{};
  EffectId effect{};
  ToolEnd end = ToolEnd::succeeded;
  Content content;
  EgressReport egress = {};

  PAWL_FACT(ResultCameLate, "result_came_late",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(effect) PAWL_FIELD(end)
                PAWL_FIELD(content) PAWL_FIELD(egress));
};

// The part of a conversation that a CompactContext named is summed up.
struct ContextCompacted {
  InstanceId instance = kRootInstance;
  EffectId effect{};
  Content summary;
  std::string model;
  Usage usage;
  std::optional<std::uint64_t> cost_pico;

  PAWL_FACT(ContextCompacted, "context_compacted",
            PAWL_FIELD(instance) PAWL_FIELD(effect) PAWL_FIELD(summary) PAWL_FIELD(model)
                PAWL_FIELD(usage) PAWL_FIELD(cost_pico));
};

struct CompactionFailed {
  InstanceId instance = kRootInstance;
  EffectId effect{};
  std::string message;
  Usage usage;

  PAWL_FACT(CompactionFailed, "compaction_failed",
            PAWL_FIELD(instance) PAWL_FIELD(effect) PAWL_FIELD(message) PAWL_FIELD(usage));
};

// Somebody lets the run spend more.
struct BudgetRaised {
  std::uint64_t cost_pico = 0;
  std::string by;
  std::uint64_t tokens = 0;
  std::uint64_t time_ms = 0;

  PAWL_FACT(BudgetRaised, "budget_raised",
            PAWL_FIELD(cost_pico) PAWL_FIELD(by) PAWL_FIELD(tokens) PAWL_FIELD(time_ms));
};

// The pipeline's answer to a JudgeCall; or, about a RunTool that has not been started, what has
// changed since it was allowed.
struct CallJudged {
  InstanceId instance = kRootInstance;
  CallId call{};
  EffectId effect{};
  CallJudgement judgement;

  PAWL_FACT(CallJudged, "call_judged",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(effect) PAWL_FIELD(judgement));
};

// What a person made of a call that was put before them.
struct CallDecided {
  InstanceId instance = kRootInstance;
  CallId call{};
  InterruptDecision decision = InterruptDecision::reject;
  Digest binding;  // of what they were shown
  std::string by;
  Content text;                   // reject: why; input: the answer
  std::optional<Content> edited;  // approve: the arguments to use instead
  std::optional<Digest> granted;  // the binding of those
  std::uint64_t answer = 0;       // tells equal answers of several people apart; 0: it has no name
  std::string signature = {};     // over approval_message(), base64; may be empty
  std::string signed_by = {};     // the approver whose signature the driver verified; or empty
  PAWL_FACT(CallDecided, "call_decided",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(decision) PAWL_FIELD(binding)
                PAWL_FIELD(by) PAWL_FIELD(text) PAWL_FIELD(edited) PAWL_FIELD(granted)
                    PAWL_FIELD(answer) PAWL_FIELD(signature) PAWL_FIELD(signed_by));
};

// Somebody lets a finished run go on. Its conversation, its tally and its calls in doubt stay as
// they are; loop guards, failures, the target that was tried last, the wrap-up and the repairs
// begin anew, and so does a step that had not ended.
struct RunReopened {
  std::string by;
  std::optional<Limits> limits;  // in place of the run's; none is lower than it was
  std::optional<Guards> guards;  // in place of the run's
  Content message;               // for the root's next step; may be empty

  PAWL_FACT(RunReopened, "run_reopened",
            PAWL_FIELD(by) PAWL_FIELD(limits) PAWL_FIELD(guards) PAWL_FIELD(message));
};

// An event of a later version that says it may be skipped: kept as it was, and without consequence.
struct Unrecognised {
  std::uint64_t type = 0;
  std::string body;

  PAWL_FACT(Unrecognised, "unrecognised", PAWL_FIELD(type) PAWL_FIELD(body));
};

// DO NOT REORDER: the index is embedded in journals. Append before Unrecognised, which stays last
// and whose own index is never written.
using AnyEvent =
    std::variant<RunStarted, DriverAttached, AgentBegan, ModelReplied, ModelFailed, ModelAborted,
                 ToolFinished, ToolStatusLearned, DoubtResolved, MessageReceived, PauseRequested,
                 ResumeRequested, CancelRequested, TimerFired, HookFailed, HookStopped,
                 InstanceSpawned, InstanceResumed, ExternalTurnPushed, RunWaiting, RunFinished,
                 ResultCameLate, ContextCompacted, CompactionFailed, BudgetRaised, CallJudged,
                 CallDecided, RunReopened, StateSet, ChildAsked, ChildReported, ChildWaits,
                 ChildStirred, ParentAnswered, PhaseControlled, EventReceived, CommandGiven,
                 Unrecognised>;
// A type of its own, copied, moved, compared and destroyed in one file: each of these is a function
// for every alternative, which files that only pass it along would compile again.
struct Event : AnyEvent {
  using AnyEvent::AnyEvent;
  Event();
  Event(const Event& other);
  Event(Event&& other) noexcept;
  Event& operator=(const Event& other);
  Event& operator=(Event&& other) noexcept;
  ~Event();
  bool operator==(const Event& other) const;
};

std::string_view name(const Event& event);
// The instance an event is about; the root for events about the run.
InstanceId instance_of(const Event& event);

// What may come through the inbox, lower first: control before guidance.
enum class InboxRank : std::uint8_t { cancel, pause, resume, resolve, turn, message, refused };
InboxRank inbox_rank(const Event& event);

template <>
inline constexpr std::uint8_t kCount<EffectClass> = 4;
template <>
inline constexpr std::uint8_t kCount<OnDoubt> = 2;
template <>
inline constexpr std::uint8_t kCount<EndsTurn> = 2;
template <>
inline constexpr std::uint8_t kCount<Speaker> = 2;
template <>
inline constexpr std::uint8_t kCount<ToolEnd> = 5;
template <>
inline constexpr std::uint8_t kCount<StatusAnswer> = 3;
template <>
inline constexpr std::uint8_t kCount<DoubtVerdict> = 2;
template <>
inline constexpr std::uint8_t kCount<Delivery> = 3;

std::string_view name(Speaker value);
std::string_view name(ToolEnd value);
std::string_view name(StatusAnswer value);
std::string_view name(DoubtVerdict value);
std::string_view name(Delivery value);

}  // namespace pawl

template <>
struct std::variant_size<pawl::Event> : std::variant_size<pawl::AnyEvent> {};
template <std::size_t I>
struct std::variant_alternative<I, pawl::Event> : std::variant_alternative<I, pawl::AnyEvent> {};
