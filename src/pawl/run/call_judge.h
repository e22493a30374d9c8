// Has calls judged by the agent's gate: before the reply that asks for them is recorded, when the
// gate needs more time, and once more before a tool starts that was not allowed just now.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pawl/run/driven_run.h"
#include "pawl/run/operations.h"

namespace pawl {

// The arguments of a call: the model's, or those an approver put in their place. `record` is at
// hand; if it does not hold the call, the store is read.
Result<std::string> arguments_of(const DrivenRun& run, const Record& record, const Call& call);

// The definition that the call was opened for, as the registry and the gate know it.
inline std::string key_of_tool(const Call& call) {
  return definition_key(call.tool, call.scope, call.owner);
}

class CallJudge {
 public:
  CallJudge(DrivenRun& run, Operations& operations) : run_(run), operations_(operations) {}

  // Judges the calls among the blocks of a reply. Judgements that the blocks came with are
  // overwritten: they may be from outside.
  void judge(InstanceId instance, std::vector<Block>& blocks,
             const std::function<std::string(const Content&)>& bytes_of);
  // For executors that run tools themselves: they cannot wait for a person.
  std::function<HookDecision(const std::string& tool, const std::string& input)> native_hook(
      InstanceId instance) const;

  // Check events from an inbox before they are fed.
  Status prepare(ExternalTurnPushed& event);
  Status prepare(CallDecided& event);

  void perform(const Record& record, const JudgeCall& effect);
  // Why a call that was permitted earlier may not run now: the policy has changed since, or what a
  // person approved is not what would run. nullopt: it may.
  std::optional<CallJudgement> objection(const Record& record, const RunTool& effect,
                                         const std::string& input);
  // Scripts and hooks have seen what the model wrote, and not what a person put in its place.
  bool is_unseen(CallId id, const CallJudgement& judgement) const;
  // Asks about arguments that a person wrote; `allowed` is called unless they are denied.
  void judge_edited(const RunTool& effect, const std::string& input, std::function<void()> allowed);

 private:
  ProposedPlan plan_of(InstanceId instance, std::vector<ProposedCall> calls) const;
  Status verify_signature(CallDecided& event) const;
  Result<std::vector<ProposedCall>> calls_beside(const Record& record, const Call& call) const;
  void finish(const JudgeCall& effect, CallJudgement judgement);
  void finish_edited(const RunTool& effect, const ProposedCall& call, CallJudgement judgement,
                     const std::function<void()>& allowed);
  const std::shared_ptr<CallGate>& gate() const { return run_.setup().agent.gate; }

  DrivenRun& run_;
  Operations& operations_;
};

}  // namespace pawl
