#include "pawl/adapter/backend/command/command_tool.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "pawl/adapter/backend/command/command_answer.h"
#include "pawl/adapter/backend/command/command_operation.h"
#include "pawl/adapter/backend/command/process_tree.h"

namespace pawl {

std::map<std::string, std::string> inherited_environment() {
  std::map<std::string, std::string> environment{
      {"PATH", std::string(kCommandPath)}, {"LANG", "C.UTF-8"}, {"LC_ALL", "C.UTF-8"}};
  for (const char* name : {"HOME", "USER", "TMPDIR"}) {
    if (const char* value = std::getenv(name)) environment[name] = value;  // NOLINT
  }
  return environment;
}

namespace {

// A tool cannot find it as its parent's /proc/PID/exe: where memory is kept private, only root may.
std::string program_of_host() {
  std::error_code unreadable;
  return std::filesystem::read_symlink("/proc/self/exe", unreadable).string();
}

using tool_command::CommandEnd;
using tool_command::CommandPlan;
using Environment = std::map<std::string, std::string>;

std::vector<std::string> to_lines(const Environment& environment) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : environment) lines.push_back(name + "=" + value);
  return lines;
}

// A plan without a command ends at once, and is not asked what it meant.
ToolStatus not_reconcilable(const CommandEnd&) {
  return {ToolStatus::Kind::unknown, "The tool is not reconcilable: it cannot be asked."};
}

class CommandTool final : public Tool {
 public:
  CommandTool(CommandSpec spec, Loop& loop, std::shared_ptr<CommandPool> pool)
      : spec_(std::move(spec)),
        loop_(loop),
        pool_(std::move(pool)),
        environment_(inherited_environment()) {
    auto& tool = spec_.tool;
    tool.timeout_ms = std::clamp<std::int64_t>(tool.timeout_ms, 1, kToolTimeoutMaxMs);
    tool.output_bytes_max = std::min(tool.output_bytes_max, kToolOutputMaxBytes);
    for (const auto& [name, value] : spec_.environment) environment_[name] = value;
    environment_["PAWL_PROGRAM"] = program_of_host();
    if (spec_.sealed && !spec_.command.empty()) {
      const std::filesystem::path script(spec_.command.front());
      environment_["PAWL_SCRIPT_DIR"] = script.parent_path().string();
    }
    environment_.erase(std::string(tool_command::kMarkVariable));
  }

  const ToolSpec& spec() const override { return spec_.tool; }

  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    CommandPlan plan = make_plan(invocation, spec_.command);
    if (invocation.attempt > 1) plan.leftovers = CommandPlan::Leftovers::possible;
    return start<ToolOutcome>(
        std::move(plan),
        [spec = spec_.tool](const CommandEnd& end) { return outcome_of(end, spec); },
        std::move(done));
  }

  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    if (spec_.tool.effect != EffectClass::reconcilable) {
      return start<ToolStatus>(CommandPlan(), not_reconcilable, std::move(done));
    }
    CommandPlan plan = make_plan(invocation, spec_.status_command);
    plan.leftovers = CommandPlan::Leftovers::possible;
    plan.output_bytes_max = tool_command::kStatusOutputBytesMax;
    return start<ToolStatus>(
        std::move(plan),
        [spec = spec_.tool](const CommandEnd& end) { return status_of(end, spec); },
        std::move(done));
  }

 private:
  CommandPlan make_plan(const ToolInvocation& invocation, std::vector<std::string> argv) const {
    Environment environment = environment_;
    for (const auto& [key, value] : variables_of(invocation.on_behalf)) environment[key] = value;
    environment["PAWL_KEY"] = invocation.key;
    environment["PAWL_RUN"] = invocation.run.text;
    environment["PAWL_CALL"] = to_string(invocation.call);
    environment["PAWL_ATTEMPT"] = std::to_string(invocation.attempt);
    environment["PAWL_TOOL"] = spec_.tool.name;
    CommandPlan plan;
    plan.argv = std::move(argv);
    plan.environment = to_lines(environment);
    plan.working_directory = spec_.working_directory;
    plan.sealed = spec_.sealed;
    plan.admit = spec_.admit;
    plan.filter = spec_.filter;
    plan.input = invocation.input;
    plan.timeout_ms = spec_.tool.timeout_ms;
    plan.output_bytes_max = spec_.tool.output_bytes_max;
    plan.error_bytes_max = tool_command::kErrorOutputBytesMax;
    plan.run = invocation.run.text;
    plan.key = invocation.key;
    return plan;
  }

  template <class Answer>
  std::unique_ptr<Operation> start(CommandPlan plan,
                                   std::function<Answer(const CommandEnd&)> translate,
                                   std::function<void(Answer)> done) {
    auto job = std::make_shared<tool_command::CommandJob<Answer>>(
        loop_, std::move(plan), std::move(translate), std::move(done));
    return std::make_unique<tool_command::CommandOperation<Answer>>(pool_, std::move(job));
  }

  CommandSpec spec_;
  Loop& loop_;
  std::shared_ptr<CommandPool> pool_;
  Environment environment_;
};

}  // namespace

std::unique_ptr<Tool> make_command_tool(CommandSpec spec, Loop& loop,
                                        std::shared_ptr<CommandPool> pool) {
  return std::make_unique<CommandTool>(std::move(spec), loop, std::move(pool));
}

}  // namespace pawl
