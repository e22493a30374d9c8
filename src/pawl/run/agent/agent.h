// Everything a run needs beside its journal: the declaration, the model, the tools.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/agent.h"
#include "pawl/charter/charter.h"
#include "pawl/executor.h"
#include "pawl/gate/call_gate.h"
#include "pawl/models/model_resolver.h"
#include "pawl/tool.h"

namespace pawl {

// The charter of an agent that a model asks for by run_subagent.
struct AdhocCharter {
  std::string text;
  std::string prompt;
  Limits limits;
};

struct PreparedAgent {
  Charter charter;
  std::shared_ptr<Executor> executor;
  std::vector<std::shared_ptr<Tool>> tools;
  // What the charter's model stands for, in order; empty: charter.model is the only target.
  std::vector<ResolvedTarget> targets = {};
  std::vector<ResolvedTarget> compaction_targets = {};  // empty: the same
  std::shared_ptr<Compactor> compactor = nullptr;       // null: the model itself
  std::function<void(const RunId&)> release =
      {};                                    // called when the run is not driven here any more
  std::shared_ptr<CallGate> gate = nullptr;  // null: whatever the model asks for is run
  // What else has to be known about a run that is taken up with this agent, for its journal.
  std::string remark = {};
  // What the executor may bring itself. Where the model's has the capability these are its own
  // affair, and the request leaves them out; the subagents it gets only then.
  std::string project_docs = {};             // precede the instructions
  std::vector<std::string> file_tools = {};  // names of those of `tools` that work on files
  std::vector<SubagentSpec> subagents = {};
  // What a run that begins with this agent is held to as long as it lives.
  std::vector<PolicyText> policies = {};
  std::vector<PinnedFile> files = {};
  Presence file_sessions = Presence::absent;
  // Makes one from the arguments of a call. An error is told to the model. Empty: run_subagent is
  // not offered.
  std::function<Result<AdhocCharter>(const std::string& input)> adhoc = {};
  // Functions of the host's for commands of the charter that have no `do`.
  std::vector<HostCommand> commands = {};
};

inline constexpr std::size_t kSubagentsMax = 64;

// What is tried for a run of this agent, with what is known about each.
std::vector<ModelTarget> targets_of(const PreparedAgent& agent);

// Makes the agent of a run that is to be carried on, from what the run pinned when it started.
struct PinnedCharter {
  std::string name;
  std::string text;
  Digest digest;
  std::string directory;
  std::string model;
  std::vector<PolicyText> policies = {};
  std::string project_docs = {};
  std::vector<PinnedFile> files = {};
  Presence file_sessions = Presence::absent;
};
using AgentSource = std::function<Result<PreparedAgent>(const PinnedCharter&)>;

}  // namespace pawl
