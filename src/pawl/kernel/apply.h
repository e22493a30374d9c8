// Applies events, decisions and effects to a run, the only code that changes one. It decides
// nothing. Internal to the kernel: fold() applies a record that is there, a Draft one that is made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/kernel.h"

namespace pawl {

class Applier {
 public:
  Applier(Run& run, const Record& record)
      : state_(run.state_), reserved_(run.reserved_), record_(record) {}

  const RunState& state() const { return state_; }
  // First the stamp and the event of the record, then its decisions, then its effects.
  void apply_event();
  void apply(const Decision& decision) { visit_and_apply(decision); }
  void apply(const Effect& effect) { visit_and_apply(effect); }
  // What did not fit; empty: everything did.
  const std::string& fault() const { return fault_; }

 private:
  template <class Fact>
  void visit_and_apply(const Fact& fact) {
    std::visit([this](const auto& one) { this->on(one); }, fact);
  }
  void stamp();

  // Events.
  void on(const RunStarted& event);
  void on(const AgentBegan& event);
  void on(const ModelReplied& event);
  void on(const ModelFailed& event);
  void on(const ModelAborted& event);
  void on(const ToolFinished& event);
  void on(const ToolStatusLearned& event);
  void on(const DoubtResolved& event);
  void on(const MessageReceived& event);
  void on(const HookStopped& event);
  void on(const InstanceResumed& event);
  void on(const ExternalTurnPushed& event);
  void on(const RunWaiting& event);
  void on(const RunFinished& event);
  void on(const RunReopened& event);
  void on(const ResultCameLate& event);
  void on(const ContextCompacted& event) { end_compaction(event.instance, event.effect); }
  void on(const CompactionFailed& event) { end_compaction(event.instance, event.effect); }
  void on(const CallJudged& event);
  void on(const CallDecided& event);
  void on(const ChildAsked& event);
  void on(const ChildReported& event);
  void on(const ChildWaits& event);
  void on(const ParentAnswered& event);
  void on(const PhaseControlled& event);
  void on(const EventReceived& event);
  template <class Other>
  void on(const Other&) {}

  // Decisions.
  void on(const StepBegan& decision);
  void on(const StepEnded& decision);
  void on(const CallOpened& decision);
  void on(const CallRefused& decision);
  void on(const CallInDoubt& decision);
  void on(const CallUnknown& decision);
  void on(const CallHeld& decision);
  void on(const ResultsTaken& decision);
  void on(const AttemptDiscarded& decision);
  void on(const RetryPlanned& decision);
  void on(const NoteAdded& decision);
  void on(const MessagesDelivered& decision);
  void on(const InstanceReadied& decision);
  void on(const InstanceRested& decision);
  void on(const InstanceSuspended& decision);
  void on(const TurnHandedOut& decision);
  void on(const InstanceBorn& decision);
  void on(const InstanceCeded& decision);
  void on(const PauseBegan& decision);
  void on(const PauseEnded& decision);
  void on(const EndingBegan& decision);
  void on(const EndingWithdrawn& decision);
  void on(const CallRetried& decision);
  void on(const TargetChanged& decision);
  void on(const RateLimitKept& decision);
  void on(const BudgetHeld& decision);
  void on(const TranscriptCut& decision);
  void on(const CallPermitted& decision);
  void on(const ApprovalAsked& decision);
  void on(const CallDenied& decision);
  void on(const AnsweredByTool& decision);
  void on(const SessionLost& decision);
  void on(const CostAdded& decision);
  void on(const LimitsRaised& decision);
  void on(const CallAnswered& decision);
  void on(const LeavePlanned& decision);
  void on(const NodeEntered& decision);
  void on(const StateChanged& decision);
  void on(const StateProposed& decision);
  void on(const StateConflict& decision);
  void on(const ChildBorn& decision);
  void on(const BirthPutOff& decision);
  void on(const InstanceEnded& decision);
  void on(const ContentsDelivered& decision);
  void on(const RootFailed& decision);
  void on(const OutputReady& decision);
  void on(const MessageReplaced& decision);
  void on(const StepGivenUp& decision);
  void on(const SuspensionLifted& decision);
  void on(const MessageAdded& decision);
  void on(const ChildAdmitted& decision);
  void on(const ChildAnswered& decision);
  void on(const ChildLeft& decision);
  void on(const PhaseBegan& decision);
  void on(const PhaseEnded& decision);
  void on(const PhasesReset& decision);
  void on(const CheckpointAsked& decision);
  void on(const SeatTaken& decision);
  void on(const SeatCalled& decision);
  void on(const SeatLeft& decision);
  void on(const StepDiscovered& decision);
  void on(const FlowEnded& decision);
  void on(const WorkItemSet& decision);
  void on(const EndingHeld& decision);

  // Effects.
  void on(const CallModel& effect);
  void on(const RunTool& effect);
  void on(const AskStatus& effect);
  void on(const BeginAgent& effect);
  void on(const EndAgent& effect);
  void on(const CompactContext& effect);
  void on(const JudgeCall& effect);
  void on(const AskParent& effect);
  void on(const TellParent& effect);

  void end_compaction(InstanceId instance, EffectId effect);
  void remember_session(Instance& instance, const ModelReplied& event);
  void take_words(Instance& instance);
  void take_last_words(Instance& instance);
  void start_tree(const RunStarted& event);
  void start_agents(const RunStarted& event);
  void settle_child(CallId id);
  void give_back_rest();
  void settle_child_of(CallId id, const std::optional<TreeBooks>& books);
  void take_books(CallId id, const TreeBooks& books, const TreeBounds& held);
  void start_flow(const RunStarted& event);
  void reopen();
  // The place of a phase that is there.
  std::uint32_t place(const std::string& phase);
  PhaseRun& phase_run(std::uint32_t phase) { return state_.flow.runs[phase]; }
  // Whether it stands among those that could begin an instance.
  void queue_phase(std::uint32_t phase);
  void take_events(PhaseRun& run, const PhaseSpec& spec, std::uint64_t count);
  void take_item_output(PhaseRun& run, const MapSpec& spec, const Seat& seat, std::string output,
                        SeatEnd end);
  void leave_seat(const Instance& instance);
  // The call of an instance that an agent carries out has ended, this way and with these words.
  void end_agent_seat(const Call& call, EndedHow how, std::optional<Content> words);
  void let_followers_go(std::uint32_t phase);
  void forget_ended();
  void drop_births(InstanceId parent);
  void begin_anew(Instance& instance);
  // What was measured of the record's event.
  const ContentMeasured& measured() const;
  void open_effect(EffectId id, EffectKind kind, InstanceId instance, CallId call);
  void close_effect(EffectId id);
  void end_call(CallId id);
  void remember_denial(const Digest& binding);
  void count_call(LoopGuard& guard, std::uint64_t fingerprint);
  void open_call(InstanceId instance, CallId call, std::uint32_t index, CallState state);
  void fail(const std::string& what);

  Instance& instance(InstanceId id);
  void set_phase(Instance& where, Phase phase);
  Call& call(CallId id);
  ChildRun& child(CallId id);

  RunState& state_;
  Reserved& reserved_;
  const Record& record_;
  std::string fault_;
  bool command_counted_ = false;  // the step that a command is
  // Where references that lead nowhere point, so that a damaged record cannot crash the reader.
  std::optional<Instance> no_instance_;
  std::optional<Call> no_call_;
  std::optional<ChildRun> no_child_;
};

// The effect that a callback was asked about, if it is of the kind that is asked about there.
const OpenEffect* effect_stopped_by(const RunState& state, const HookStopped& event);

// Where a phase that waits for its next attempt has got to.
std::uint32_t failed_attempts_of(const Phase& phase);

}  // namespace pawl
