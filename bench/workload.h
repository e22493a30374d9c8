// The runs that are measured: a scripted model that calls one tool in every step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pawl/loop.h"
#include "pawl/run/agent/agent.h"
#include "pawl/tool.h"

namespace pawl::bench {

// A scripted model that is not told what its replies cost reads the last four messages to count
// them.
enum class Model : std::uint8_t { blind, reads_four_messages };

// An agent whose model calls `tool` in each of its steps.
PreparedAgent agent_with(std::shared_ptr<Tool> tool, Loop& loop, std::uint64_t steps,
                         Model model = Model::blind);

// Answers at once with `bytes` bytes, others each time.
std::shared_ptr<Tool> make_echo_tool(Loop& loop, std::size_t bytes);

// Keeps every call open, as a tool that takes long does, until it is told to answer.
class PatientTool : public Tool {
 public:
  explicit PatientTool(Loop& loop);
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override;
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override;
  std::uint64_t called() const { return called_; }
  void answer_open_calls();

 private:
  struct OpenCall {
    std::shared_ptr<bool> wanted;
    std::function<void(ToolOutcome)> done;
  };
  Loop& loop_;
  ToolSpec spec_;
  std::uint64_t called_ = 0;
  std::vector<OpenCall> open_;
};

}  // namespace pawl::bench
