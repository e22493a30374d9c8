// What the kernel made of an event: decisions (what is so now) and effects (what the host must do).
// Both are recorded with the event, so that a loaded journal is applied, not decided again.
#pragma once

#include "pawl/kernel/events.h"

namespace pawl {

enum class RefusedBecause : std::uint8_t {
  unknown_tool,
  invalid_input,
  truncated,  // the reply was cut off inside it
  yielded,    // the reply gave control away
  denied,     // by the permission pipeline
  not_done,   // a tool of the kernel's own, and the tree of instances does not allow it
};
std::string_view name(RefusedBecause value);
template <>
inline constexpr std::uint8_t kCount<RefusedBecause> = 6;

struct StepBegan {
  InstanceId instance = kRootInstance;
  std::uint64_t step = 0;

  PAWL_FACT(StepBegan, "step_began", PAWL_FIELD(instance) PAWL_FIELD(step));
};

struct StepEnded {
  InstanceId instance = kRootInstance;
  std::uint64_t step = 0;
  YieldReason yield = YieldReason::end_turn;
  std::uint64_t fingerprint = 0;  // of what the model wrote: equal steps have equal ones

  PAWL_FACT(StepEnded, "step_ended",
            PAWL_FIELD(instance) PAWL_FIELD(step) PAWL_FIELD(yield) PAWL_FIELD(fingerprint));
};

struct CallOpened {
  InstanceId instance = kRootInstance;
  CallId call{};
  std::uint32_t index = 0;        // of its block in the reply
  std::uint64_t fingerprint = 0;  // of tool and input
  // Where the definition stands that is judged and run: the nearest one, as in PinnedTool.
  ToolScope scope = ToolScope::charter;
  std::string owner = {};

  PAWL_FACT(CallOpened, "call_opened",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(index) PAWL_FIELD(fingerprint)
                PAWL_FIELD(scope) PAWL_FIELD(owner));
};

// Answered by the kernel; the tool is not run.
struct CallRefused {
  InstanceId instance = kRootInstance;
  CallId call{};
  std::uint32_t index = 0;
  RefusedBecause because = RefusedBecause::unknown_tool;
  std::string text;
  std::uint64_t fingerprint = 0;      // of tool and input
  GateStage stage = GateStage::none;  // that denied it
  std::string rule = {};
  std::uint64_t tokens = 0;  // of the text, by estimate

  PAWL_FACT(CallRefused, "call_refused",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(index) PAWL_FIELD(because)
                PAWL_FIELD(text) PAWL_FIELD(fingerprint) PAWL_FIELD(stage) PAWL_FIELD(rule)
                    PAWL_FIELD(tokens));
};

// Whether it is a call and an error to limits and guards. One in a reply that was cut off or gave
// control away is neither: nobody meant it to be run now.
bool counts(const CallRefused& decision);

struct CallInDoubt {
  CallId call{};

  PAWL_FACT(CallInDoubt, "call_in_doubt", PAWL_FIELD(call));
};

// The model is told that nobody knows: the text is the call's result.
struct CallUnknown {
  CallId call{};
  std::string text = {};
  std::uint64_t tokens = 0;  // of the text, by estimate

  PAWL_FACT(CallUnknown, "call_unknown", PAWL_FIELD(call) PAWL_FIELD(text) PAWL_FIELD(tokens));
};

// What a call that is held waits for.
enum class HeldFor : std::uint8_t {
  run,     // to be run (again)
  status,  // its tool is to be asked what became of it
  judgement,
  place,  // for the run that it starts
  child,  // the run that it has started, which waits
};
std::string_view name(HeldFor value);
template <>
inline constexpr std::uint8_t kCount<HeldFor> = 5;

// To go on once effects may start.
struct CallHeld {
  CallId call{};
  HeldFor held_for = HeldFor::run;

  PAWL_FACT(CallHeld, "call_held", PAWL_FIELD(call) PAWL_FIELD(held_for));
};

// All calls of the instance have ended: their results join the transcript, in order of call number.
struct ResultsTaken {
  InstanceId instance = kRootInstance;

  PAWL_FACT(ResultsTaken, "results_taken", PAWL_FIELD(instance));
};

// An attempt whose outcome was lost with its process. A model call is charged what was reserved.
struct AttemptDiscarded {
  EffectId effect{};
  Usage charged;
  std::uint64_t cost_pico = 0;  // of it, at the dearest rates that may be paid

  PAWL_FACT(AttemptDiscarded, "attempt_discarded",
            PAWL_FIELD(effect) PAWL_FIELD(charged) PAWL_FIELD(cost_pico));
};

struct RetryPlanned {
  InstanceId instance = kRootInstance;
  std::uint32_t failed_attempts = 0;
  std::uint64_t at_elapsed_ms = 0;

  PAWL_FACT(RetryPlanned, "retry_planned",
            PAWL_FIELD(instance) PAWL_FIELD(failed_attempts) PAWL_FIELD(at_elapsed_ms));
};

enum class Note : std::uint8_t { wrap_up, repair, entered, work_items };
std::string_view name(Note value);
template <>
inline constexpr std::uint8_t kCount<Note> = 4;

struct NoteAdded {
  InstanceId instance = kRootInstance;
  Note note = Note::wrap_up;
  std::string text = {};     // what the model reads
  std::uint64_t tokens = 0;  // of the text, by estimate

  PAWL_FACT(NoteAdded, "note_added",
            PAWL_FIELD(instance) PAWL_FIELD(note) PAWL_FIELD(text) PAWL_FIELD(tokens));
};

// Messages that waited for the instance's next step join its transcript.
struct MessagesDelivered {
  InstanceId instance = kRootInstance;
  std::uint32_t count = 0;

  PAWL_FACT(MessagesDelivered, "messages_delivered", PAWL_FIELD(instance) PAWL_FIELD(count));
};

struct InstanceReadied {  // its next step may begin, but not now
  InstanceId instance = kRootInstance;
  std::uint32_t failed_attempts = 0;

  PAWL_FACT(InstanceReadied, "instance_readied", PAWL_FIELD(instance) PAWL_FIELD(failed_attempts));
};

struct InstanceRested {  // its turn is over
  InstanceId instance = kRootInstance;

  PAWL_FACT(InstanceRested, "instance_rested", PAWL_FIELD(instance));
};

struct InstanceSuspended {
  InstanceId instance = kRootInstance;
  std::string suspend_id;
  std::string reason;
  std::string metadata;

  PAWL_FACT(InstanceSuspended, "instance_suspended",
            PAWL_FIELD(instance) PAWL_FIELD(suspend_id) PAWL_FIELD(reason) PAWL_FIELD(metadata));
};

struct TurnHandedOut {  // to the host (yield reason external)
  InstanceId instance = kRootInstance;

  PAWL_FACT(TurnHandedOut, "turn_handed_out", PAWL_FIELD(instance));
};

struct InstanceBorn {
  InstanceId instance = kRootInstance;
  InstanceId parent = kRootInstance;
  std::uint64_t tokens = 0;  // of its input, by estimate

  PAWL_FACT(InstanceBorn, "instance_born",
            PAWL_FIELD(instance) PAWL_FIELD(parent) PAWL_FIELD(tokens));
};

// The instance gave control back: it leaves the tree, its last text goes to its parent.
struct InstanceCeded {
  InstanceId instance = kRootInstance;

  PAWL_FACT(InstanceCeded, "instance_ceded", PAWL_FIELD(instance));
};

struct PauseBegan {
  PAWL_FACT(PauseBegan, "pause_began");
};

struct PauseEnded {
  PAWL_FACT(PauseEnded, "pause_ended");
};

// No effect starts any more; when those under way have ended, the run is over.
struct EndingBegan {
  RunStatus status = RunStatus::done;
  StopReason reason = StopReason::end_turn;
  std::string detail;

  PAWL_FACT(EndingBegan, "ending_began", PAWL_FIELD(status) PAWL_FIELD(reason) PAWL_FIELD(detail));
};

// Somebody spoke before the end was recorded.
struct EndingWithdrawn {
  PAWL_FACT(EndingWithdrawn, "ending_withdrawn");
};

// The attempt was cut short, and its tool says that another does no harm: what it reported is not
// the call's result and no error of the model's.
struct CallRetried {
  CallId call{};

  PAWL_FACT(CallRetried, "call_retried", PAWL_FIELD(call));
};

// The step goes on with another model.
struct TargetChanged {
  InstanceId instance = kRootInstance;
  std::uint32_t target = 0;

  PAWL_FACT(TargetChanged, "target_changed", PAWL_FIELD(instance) PAWL_FIELD(target));
};

// The provider asked for so long a wait that the run leaves memory meanwhile.
struct RateLimitKept {
  InstanceId instance = kRootInstance;
  std::uint32_t failed_attempts = 0;
  std::int64_t until_at_ms = 0;
  std::uint64_t until_elapsed_ms = 0;

  PAWL_FACT(RateLimitKept, "rate_limit_kept",
            PAWL_FIELD(instance) PAWL_FIELD(failed_attempts) PAWL_FIELD(until_at_ms)
                PAWL_FIELD(until_elapsed_ms));
};

// The next model call may cost more than is left. `needed` and `left` are in 10^-12 units of money,
// in tokens, or in milliseconds; of a tenant's window they are not known here, but when to ask
// again.
struct BudgetHeld {
  InstanceId instance = kRootInstance;
  BudgetUnit unit = BudgetUnit::money;
  std::uint64_t needed = 0;
  std::uint64_t left = 0;
  std::int64_t until_at_ms = 0;  // 0: until somebody raises it
  std::uint64_t until_elapsed_ms = 0;

  PAWL_FACT(BudgetHeld, "budget_held",
            PAWL_FIELD(instance) PAWL_FIELD(unit) PAWL_FIELD(needed) PAWL_FIELD(left)
                PAWL_FIELD(until_at_ms) PAWL_FIELD(until_elapsed_ms));
};

enum class CutBy : std::uint8_t {
  summary,  // of the model's
  trim,     // nobody summed it up: a line says how much went
};
std::string_view name(CutBy value);
template <>
inline constexpr std::uint8_t kCount<CutBy> = 2;

// The entries before `to` leave the transcript, but for what is pinned. The journal keeps them.
struct TranscriptCut {
  InstanceId instance = kRootInstance;
  std::uint64_t to = 0;
  CutBy by = CutBy::summary;
  std::uint64_t removed = 0;
  std::uint64_t context_tokens = 0;  // afterwards
  std::string text = {};             // trim: what the model reads in place of what went
  std::uint64_t tokens = 0;          // of what stands there now, by estimate

  PAWL_FACT(TranscriptCut, "transcript_cut",
            PAWL_FIELD(instance) PAWL_FIELD(to) PAWL_FIELD(by) PAWL_FIELD(removed)
                PAWL_FIELD(context_tokens) PAWL_FIELD(text) PAWL_FIELD(tokens));
};

// The call may run: who or what says so.
struct CallPermitted {
  CallId call{};
  GateStage stage = GateStage::none;
  std::string rule;

  PAWL_FACT(CallPermitted, "call_permitted", PAWL_FIELD(call) PAWL_FIELD(stage) PAWL_FIELD(rule));
};

// The call waits for a person.
struct ApprovalAsked {
  CallId call{};
  InterruptKind kind = InterruptKind::approval;
  Digest binding;
  std::int64_t expires_at_ms = 0;  // 0: never
  std::uint64_t expires_elapsed_ms = 0;
  GateStage stage = GateStage::none;
  std::string rule;
  std::string reason;
  std::uint64_t asked = 0;  // questions in this hour, this one included; 1: the hour begins

  PAWL_FACT(ApprovalAsked, "approval_asked",
            PAWL_FIELD(call) PAWL_FIELD(kind) PAWL_FIELD(binding) PAWL_FIELD(expires_at_ms)
                PAWL_FIELD(expires_elapsed_ms) PAWL_FIELD(stage) PAWL_FIELD(rule) PAWL_FIELD(reason)
                    PAWL_FIELD(asked));
};

// An open call that is not run: the text is its result.
struct CallDenied {
  CallId call{};
  GateStage stage = GateStage::none;
  std::string rule;
  std::string text;
  std::uint64_t tokens = 0;  // of the text, by estimate

  PAWL_FACT(CallDenied, "call_denied",
            PAWL_FIELD(call) PAWL_FIELD(stage) PAWL_FIELD(rule) PAWL_FIELD(text)
                PAWL_FIELD(tokens));
};

// A terminal tool has answered in the model's place.
struct AnsweredByTool {
  InstanceId instance = kRootInstance;
  CallId call{};

  PAWL_FACT(AnsweredByTool, "answered_by_tool", PAWL_FIELD(instance) PAWL_FIELD(call));
};

// How much what the event brought takes of a context, and whether it is an output. It stands first
// in its record: the event is applied by it.
struct ContentMeasured {
  std::uint64_t tokens = 0;              // of the entry that it makes, by estimate
  std::uint64_t context_tokens = 0;      // of the next request; 0: more by `tokens` than before
  Presence output = Presence::absent;    // its text is the instance's output now
  std::vector<std::uint64_t> past = {};  // tokens of each message of a history

  PAWL_FACT(ContentMeasured, "content_measured",
            PAWL_FIELD(tokens) PAWL_FIELD(context_tokens) PAWL_FIELD(output) PAWL_FIELD(past));
};

// The provider's session that the target was asked in is gone.
struct SessionLost {
  InstanceId instance = kRootInstance;
  std::uint32_t target = 0;

  PAWL_FACT(SessionLost, "session_lost", PAWL_FIELD(instance) PAWL_FIELD(target));
};

// What an attempt costs whose outcome nobody knows, beyond the list price of what was set aside for
// it: the dearest rates that it may have been paid by.
struct CostAdded {
  std::uint64_t cost_pico = 0;

  PAWL_FACT(CostAdded, "cost_added", PAWL_FIELD(cost_pico));
};

// The run's bounds after a raise.
struct LimitsRaised {
  Limits limits;

  PAWL_FACT(LimitsRaised, "limits_raised", PAWL_FIELD(limits));
};

// DO NOT REORDER: the index is embedded in journals. Append at the end.
using AnyDecision = std::variant<
    StepBegan, StepEnded, CallOpened, CallRefused, CallInDoubt, CallUnknown, CallHeld, ResultsTaken,
    AttemptDiscarded, RetryPlanned, NoteAdded, MessagesDelivered, InstanceReadied, InstanceRested,
    InstanceSuspended, TurnHandedOut, InstanceBorn, InstanceCeded, PauseBegan, PauseEnded,
    EndingBegan, EndingWithdrawn, CallRetried, TargetChanged, RateLimitKept, BudgetHeld,
    TranscriptCut, CallPermitted, ApprovalAsked, CallDenied, AnsweredByTool, ContentMeasured,
    SessionLost, CostAdded, LimitsRaised, CallAnswered, LeavePlanned, NodeEntered, StateChanged,
    StateProposed, StateConflict, ChildBorn, BirthPutOff, InstanceEnded, ContentsDelivered,
    RootFailed, OutputReady, MessageReplaced, ChildAdmitted, ChildAnswered, ChildLeft, PhaseBegan,
    PhaseEnded, PhasesReset, CheckpointAsked, SeatTaken, SeatLeft, StepDiscovered, FlowEnded,
    WorkItemSet, EndingHeld, StepGivenUp, SuspensionLifted, MessageAdded, SeatCalled>;
// As Event.
struct Decision : AnyDecision {
  using AnyDecision::AnyDecision;
  Decision();
  Decision(const Decision& other);
  Decision(Decision&& other) noexcept;
  Decision& operator=(const Decision& other);
  Decision& operator=(Decision&& other) noexcept;
  ~Decision();
  bool operator==(const Decision& other) const;
};

// Effects, imperative.

struct CallModel {
  EffectId effect{};
  InstanceId instance = kRootInstance;
  std::uint64_t step = 0;
  std::uint32_t attempt = 1;
  std::uint64_t position = 0;    // model calls of this instance whose outcome is journaled
  std::uint64_t steps_left = 0;  // after this one
  Usage reserved;                // charged if the outcome is lost
  std::uint32_t target = 0;
  std::uint64_t output_tokens = 0;  // that the reply may have; 0: as the model says
  std::uint64_t reserved_pico = 0;  // the most that `reserved` may cost, where there is a budget

  PAWL_FACT(CallModel, "call_model",
            PAWL_FIELD(effect) PAWL_FIELD(instance) PAWL_FIELD(step) PAWL_FIELD(attempt)
                PAWL_FIELD(position) PAWL_FIELD(steps_left) PAWL_FIELD(reserved) PAWL_FIELD(target)
                    PAWL_FIELD(output_tokens) PAWL_FIELD(reserved_pico));
};

struct RunTool {
  EffectId effect{};
  InstanceId instance = kRootInstance;
  CallId call{};
  std::uint32_t attempt = 1;

  PAWL_FACT(RunTool, "run_tool",
            PAWL_FIELD(effect) PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(attempt));
};

struct AskStatus {
  EffectId effect{};
  InstanceId instance = kRootInstance;
  CallId call{};

  PAWL_FACT(AskStatus, "ask_status", PAWL_FIELD(effect) PAWL_FIELD(instance) PAWL_FIELD(call));
};

struct AbortEffect {
  EffectId target{};

  PAWL_FACT(AbortEffect, "abort_effect", PAWL_FIELD(target));
};

// Scripts and hooks are to be asked whether the call may run.
struct JudgeCall {
  EffectId effect{};
  InstanceId instance = kRootInstance;
  CallId call{};

  PAWL_FACT(JudgeCall, "judge_call", PAWL_FIELD(effect) PAWL_FIELD(instance) PAWL_FIELD(call));
};

struct BeginAgent {
  EffectId effect{};

  PAWL_FACT(BeginAgent, "begin_agent", PAWL_FIELD(effect));
};

struct EndAgent {
  EffectId effect{};

  PAWL_FACT(EndAgent, "end_agent", PAWL_FIELD(effect));
};

// DO NOT REORDER: the index is embedded in journals. Append at the end.
// The entries of the transcript before `to` are to be summed up.
struct CompactContext {
  EffectId effect{};
  InstanceId instance = kRootInstance;
  std::uint64_t to = 0;
  std::uint32_t target = 0;
  Usage reserved;
  std::uint64_t reserved_pico = 0;  // as in CallModel

  PAWL_FACT(CompactContext, "compact_context",
            PAWL_FIELD(effect) PAWL_FIELD(instance) PAWL_FIELD(to) PAWL_FIELD(target)
                PAWL_FIELD(reserved) PAWL_FIELD(reserved_pico));
};

using AnyEffect =
    std::variant<CallModel, RunTool, AskStatus, AbortEffect, BeginAgent, EndAgent, CompactContext,
                 JudgeCall, AskParent, TellParent, AnswerChild, SteerChild>;
// As Event.
struct Effect : AnyEffect {
  using AnyEffect::AnyEffect;
  Effect();
  Effect(const Effect& other);
  Effect(Effect&& other) noexcept;
  Effect& operator=(const Effect& other);
  Effect& operator=(Effect&& other) noexcept;
  ~Effect();
  bool operator==(const Effect& other) const;
};

std::string_view name(const Decision& decision);
std::string_view name(const Effect& effect);

}  // namespace pawl

template <>
struct std::variant_size<pawl::Decision> : std::variant_size<pawl::AnyDecision> {};
template <std::size_t I>
struct std::variant_alternative<I, pawl::Decision>
    : std::variant_alternative<I, pawl::AnyDecision> {};

template <>
struct std::variant_size<pawl::Effect> : std::variant_size<pawl::AnyEffect> {};
template <std::size_t I>
struct std::variant_alternative<I, pawl::Effect> : std::variant_alternative<I, pawl::AnyEffect> {};
