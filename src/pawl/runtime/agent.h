// Everything a run needs beside its journal: the declaration, the model, the tools.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/port/executor.h"
#include "pawl/port/tool.h"
#include "pawl/runtime/charter.h"

namespace pawl {

struct RunnableAgent {
  Charter charter;
  std::shared_ptr<Executor> executor;
  std::vector<std::shared_ptr<Tool>> tools;
};

// Of the agent's own model.
inline Prices prices_of(const RunnableAgent& agent) {
  for (const ExecutorModelDescriptor& model : agent.executor->list_models()) {
    if (model.id == agent.charter.model) return model.prices;
  }
  return {};
}

// Makes the agent of a run that is to be carried on, from what the run pinned when it started.
struct PinnedCharter {
  std::string name;
  std::string text;
  Digest digest;
  std::string directory;
  std::string model;
};
using AgentSource = std::function<Result<RunnableAgent>(const PinnedCharter&)>;

}  // namespace pawl
