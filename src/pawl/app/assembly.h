// From the text of a charter to an agent that can run: the models and tools it names, as adapters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/port/loop.h"
#include "pawl/runtime/agent.h"

namespace pawl {

class CommandPool;

inline constexpr std::size_t kCharterBytesMax = std::size_t{4} << 20U;

struct Assembled {
  std::optional<RunnableAgent> agent;  // nullopt when there are faults
  std::vector<std::string> faults;     // "file:line:column: message (remedy)"
};

// Made and used on the loop thread; the loop outlives it and what it makes.
class AgentAssembler {
 public:
  explicit AgentAssembler(Loop& loop) : loop_(loop) {}

  Assembled from_file(const std::string& path);
  // A run's charter as it was when the run began. The script of a scripted model is read again.
  Result<RunnableAgent> from_pinned(const PinnedCharter& pinned);

 private:
  // A run may have pinned another model than its charter chooses: a fork can. Empty: the charter's.
  Assembled from_text(const std::string& text, const std::string& file,
                      const std::string& directory, const std::string& pinned_model);
  struct Source;
  void choose_executor(const Source& source, RunnableAgent& agent,
                       std::vector<std::string>& faults) const;
  void make_tools(RunnableAgent& agent);

  Loop& loop_;
  std::shared_ptr<CommandPool> pool_;  // made with the first command tool
};

}  // namespace pawl
