// An agent as a host puts it together: what it is told, its model, its tools, and what guards them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/kernel/ids.h"
#include "pawl/kernel/limits.h"
#include "pawl/kernel/permission.h"
#include "pawl/kernel/sampling.h"
#include "pawl/port/compactor.h"
#include "pawl/port/executor.h"
#include "pawl/port/tool.h"

namespace pawl {

class CallGate;
struct Processors;

// The declaration. docs/charter.md says more of each field: they are the keys of a charter file.
struct AgentCharter {
  std::string name;
  std::string instructions;  // {{name}} stands for a variable
  std::string model;         // the executor's name for it; empty: the first that it lists
  SamplingOptions sampling;
  std::string output_schema;  // JSON Schema that the answer must fit; empty: any text
  CompactionPolicy compaction;
  Limits limits;
  Guards guards;
  RetryPolicy retry;
  std::map<std::string, std::string> variables;  // defaults
  std::string directory;                         // relative paths start here
  Approvers approvers = Approvers::anyone;
  std::vector<Signer> signers;  // whose approvals count
};

struct RunnableAgent {
  AgentCharter charter;
  std::shared_ptr<Executor> executor;
  std::vector<std::shared_ptr<Tool>> tools;
  std::vector<SubagentSpec> subagents = {};        // of an executor that starts subagents itself
  std::shared_ptr<Compactor> compactor = nullptr;  // null: the model itself
  std::shared_ptr<CallGate> gate = nullptr;        // see Runner::guard(); null: every call is run
  std::shared_ptr<const Processors> processors = nullptr;  // see use_processors(); null: none
  // Called when the run is not driven here any more.
  std::function<void(const RunId&)> release = {};
};

}  // namespace pawl
