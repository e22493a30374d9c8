// Applies a record to a run. Internal to the kernel: fold() is its one user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/kernel.h"

namespace pawl {

class RunFolder {
 public:
  RunFolder(Run& run, const Record& record) : state_(run.state_), record_(record) {}

  Status fold();

 private:
  Status check() const;
  void stamp();

  // Events.
  void apply(const RunStarted& event);
  void apply(const AgentBegan& event);
  void apply(const ModelReplied& event);
  void apply(const ModelFailed& event);
  void apply(const ModelAborted& event);
  void apply(const ToolFinished& event);
  void apply(const ToolStatusLearned& event);
  void apply(const DoubtResolved& event);
  void apply(const MessageReceived& event);
  void apply(const HookStopped& event);
  void apply(const ExternalTurnPushed& event);
  void apply(const RunWaiting& event);
  void apply(const RunFinished& event);
  void apply(const ResultCameLate& event);
  void apply(const ContextCompacted& event) { end_compaction(event.instance, event.effect); }
  void apply(const CompactionFailed& event) { end_compaction(event.instance, event.effect); }
  void apply(const BudgetRaised& event);
  void apply(const CallJudged& event);
  void apply(const CallDecided& event);
  template <class Other>
  void apply(const Other&) {}

  // Decisions.
  void apply(const StepBegan& decision);
  void apply(const StepEnded& decision);
  void apply(const CallOpened& decision);
  void apply(const CallRefused& decision);
  void apply(const CallInDoubt& decision);
  void apply(const CallUnknown& decision);
  void apply(const CallHeld& decision);
  void apply(const ResultsTaken& decision);
  void apply(const AttemptDiscarded& decision);
  void apply(const RetryPlanned& decision);
  void apply(const NoteAdded& decision);
  void apply(const MessagesDelivered& decision);
  void apply(const InstanceReadied& decision);
  void apply(const InstanceRested& decision);
  void apply(const InstanceSuspended& decision);
  void apply(const TurnHandedOut& decision);
  void apply(const InstanceBorn& decision);
  void apply(const InstanceCeded& decision);
  void apply(const PauseBegan& decision);
  void apply(const PauseEnded& decision);
  void apply(const EndingBegan& decision);
  void apply(const EndingWithdrawn& decision);
  void apply(const CallRetried& decision);
  void apply(const TargetChanged& decision);
  void apply(const RateLimitKept& decision);
  void apply(const BudgetHeld& decision);
  void apply(const TranscriptCut& decision);
  void apply(const CallPermitted& decision);
  void apply(const ApprovalAsked& decision);
  void apply(const CallDenied& decision);
  void apply(const AnsweredByTool& decision);

  // Effects.
  void apply(const CallModel& effect);
  void apply(const RunTool& effect);
  void apply(const AskStatus& effect);
  void apply(const BeginAgent& effect);
  void apply(const EndAgent& effect);
  void apply(const CompactContext& effect);
  void apply(const JudgeCall& effect);

  void end_compaction(InstanceId instance, EffectId effect);
  void remember_session(Instance& instance, const ModelReplied& event);
  void take_blocks(Instance& instance, const std::vector<Block>& blocks);
  void open_effect(EffectId id, EffectKind kind, InstanceId instance, CallId call);
  void close_effect(EffectId id);
  void end_call(CallId id);
  void remember_denial(const Digest& binding);
  void count_call(LoopGuard& guard, std::uint64_t fingerprint);
  void open_call(InstanceId instance, CallId call, std::uint32_t index, CallState state);
  void fail(const std::string& what);

  Instance& instance(InstanceId id);
  Call& call(CallId id);

  RunState& state_;
  const Record& record_;
  std::string fault_;
  // Where references that lead nowhere point, so that a damaged record cannot crash the reader.
  std::optional<Instance> no_instance_;
  std::optional<Call> no_call_;
};

// Where a phase that waits for its next attempt has got to.
std::uint32_t failed_attempts_of(const Phase& phase);

}  // namespace pawl
