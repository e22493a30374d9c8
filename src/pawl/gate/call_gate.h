// The one way of a call from a model to its tool: nothing runs that did not pass it. What follows
// from a judgement is the kernel's business.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/permissions.h"

namespace pawl {

class CallGate {
 public:
  virtual ~CallGate() = default;
  // A judgement a call, in order. One that needs a script or a hook that takes its time is
  // undecided: then ask() is called for it. Changes nothing; on the loop thread.
  virtual std::vector<CallJudgement> judge(const ProposedPlan& plan) = 0;
  // All of the pipeline for the only call of `plan`; `done` once, on the loop thread, not from
  // inside. The answer is never undecided.
  virtual std::unique_ptr<Operation> ask(const ProposedPlan& plan,
                                         std::function<void(CallJudgement)> done) = 0;
  // What an approval of this call would be for: its bytes, the tool's definition, the directory,
  // the environment, the scripts it names and the policy, as they are now.
  virtual Digest binding_of(const ProposedCall& call) = 0;
};

}  // namespace pawl
