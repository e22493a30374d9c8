// The one way of a call from a model to its tool: nothing runs that did not pass it. What follows
// from a judgement is the kernel's business.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/kernel/permission.h"
#include "pawl/kernel/tally.h"
#include "pawl/port/loop.h"
#include "pawl/port/tool.h"

namespace pawl {

struct ProposedCall {
  std::string tool;
  std::string input;  // the exact bytes of the arguments
  // Which definition of that name is meant, by definition_key(); empty: the charter's own.
  std::string definition = {};

  const std::string& key() const { return definition.empty() ? tool : definition; }
};

// The calls of one reply, in order. A single call is a plan of one.
struct ProposedPlan {
  RunId run;
  InstanceId instance = kRootInstance;
  std::vector<ProposedCall> calls;
  Tally tally;
  std::string node;
  // ask(): all calls of the reply that the only one in `calls` is of. Empty: it stands alone.
  std::vector<ProposedCall> reply = {};
};

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
