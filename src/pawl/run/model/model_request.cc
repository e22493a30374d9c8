#include "pawl/run/model/model_request.h"

#include <algorithm>
#include <filesystem>

#include "pawl/kernel/machine_tools.h"
#include "pawl/kernel/transcript.h"

namespace pawl {
namespace {

class RunTranscript final : public Transcript {
 public:
  RunTranscript(std::weak_ptr<DrivenRun> run, const Instance& instance, std::size_t length,
                std::uint64_t number, std::shared_ptr<std::optional<Error>> unreadable)
      : run_(std::move(run)),
        instance_(instance.id),
        length_(length),
        number_(number),
        unreadable_(std::move(unreadable)) {}

  std::size_t length() const override { return length_; }

  Result<std::vector<Message>> load(MessageRange range) const override {
    const std::size_t first = std::min(range.first, length_);
    const std::size_t count = std::min(range.count, length_ - first);
    const auto run = run_.lock();
    const Instance* instance = run ? find_instance(run->state(), instance_) : nullptr;
    if (instance == nullptr || first + count > instance->transcript.size()) {
      return Error{ErrorCode::not_found, "the conversation has changed"};
    }
    auto messages = run->conversations().load(*instance, {first, count});
    if (!messages) return *(*unreadable_ = messages.error());
    return messages;
  }

  std::unique_ptr<KeptWork> take_work(std::string_view name) const override {
    const auto run = run_.lock();
    return run ? run->conversations().take_work(instance_, number_, name) : nullptr;
  }

  void keep_work(std::string_view name, std::unique_ptr<KeptWork> work) const override {
    const auto run = run_.lock();
    if (run) run->conversations().keep_work(instance_, number_, name, std::move(work));
  }

 private:
  const std::weak_ptr<DrivenRun> run_;
  const InstanceId instance_;
  const std::size_t length_;
  const std::uint64_t number_;  // see KeptConversations::number_of()
  const std::shared_ptr<std::optional<Error>> unreadable_;
};

// An agent without a directory has no roots, and no path is compared.
void set_write_roots(const Charter& charter, HookPolicy& policy) {
  const std::filesystem::path directory(charter.directory);
  if (!directory.is_absolute()) return;
  policy.directory = charter.directory;
  policy.write_roots.emplace();
  for (const std::string& root : charter.sandbox.write) {
    std::string text = (directory / root).lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    policy.write_roots->push_back(std::move(text));
  }
}

SamplingOptions sampling_for(const PreparedAgent& agent, const NodeParts* node,
                             const std::string& model, const CallModel& effect) {
  SamplingOptions sampling = node == nullptr ? agent.charter.sampling : node->sampling;
  for (const ResolvedTarget& target : agent.targets) {
    if (target.literal != model || sampling.effort != ReasoningEffort::unset) continue;
    sampling.effort = target.effort;
  }
  if (effect.output_tokens > 0) sampling.max_output_tokens = effect.output_tokens;
  return sampling;
}

// Those in scope, then those that the kernel answers itself.
std::vector<ToolSpec> tools_for(const DrivenRun& run, const Instance& instance) {
  std::vector<ToolSpec> tools = run.setup().tools.specs();
  if (!has_nodes(run.state())) return tools;
  std::erase_if(tools, [&](const ToolSpec& tool) {
    const PinnedTool* nearest = tool_in_scope(run.state(), instance, tool.name);
    return nearest == nullptr || nearest->scope != tool.scope || nearest->owner != tool.owner;
  });
  for (ToolSpec& tool : machine_tools(run.state(), instance)) tools.push_back(std::move(tool));
  return tools;
}

// At the end of the request, so that what stands before it can be cached.
std::string note_for(const DrivenRun& run, const Instance& instance, const CallModel& effect) {
  std::string note = shown_state(run.state(), instance);
  const std::string_view warning = step_warning(rules_of(run.state().semantics), effect.steps_left);
  if (!note.empty() && !warning.empty()) note += "\n";
  return note.append(warning);
}

}  // namespace

std::shared_ptr<const Transcript> make_run_transcript(
    DrivenRun& run, InstanceId id, std::size_t length,
    std::shared_ptr<std::optional<Error>> unreadable) {
  const Instance* instance = find_instance(run.state(), id);
  PAWL_ASSERT(instance != nullptr);
  return std::make_shared<RunTranscript>(run.weak(run), *instance, length,
                                         run.conversations().number_of(*instance),
                                         std::move(unreadable));
}

PhaseExecutionRequest request_for(const DrivenRun& run, const CallModel& effect,
                                  const CallJudge& judge,
                                  std::shared_ptr<const Transcript> transcript) {
  const DriverSetup& setup = run.setup();
  const Instance* instance = find_instance(run.state(), effect.instance);
  PAWL_ASSERT(instance != nullptr);
  PhaseExecutionRequest request;
  request.run = run.id();
  request.instance = effect.instance;
  request.step = effect.step;
  request.attempt = effect.attempt;
  request.position = effect.position;
  request.model = run.state().targets.at(effect.target).literal;
  const NodeParts* node = run.parts_of(effect.instance);
  request.system_prompt = node == nullptr ? setup.instructions : node->instructions;
  request.sampling = sampling_for(setup.agent, node, request.model, effect);
  request.output_schema = node == nullptr ? setup.agent.charter.output_schema : node->output_schema;
  request.working_directory = setup.agent.charter.directory;
  request.tenant = run.state().tenant;
  if (setup.context) request.on_behalf = setup.context->on_behalf();
  request.reserved = effect.reserved;
  request.mcp_servers = setup.mcp_servers;
  request.note = note_for(run, *instance, effect);
  request.tools = tools_for(run, *instance);
  request.hook_policy.allowed_tools.emplace();
  for (const ToolSpec& tool : request.tools) {
    request.hook_policy.allowed_tools->push_back(tool.name);
  }
  set_write_roots(setup.agent.charter, request.hook_policy);
  request.hook_policy.on_pre_tool_use = judge.native_hook(effect.instance);
  if (const ProviderSession* session = find_session(*instance, provider_of(request.model))) {
    request.session = session->handle;
    request.session_length = session->length;
  }
  request.transcript = std::move(transcript);
  return request;
}

void adapt_to_capabilities(const DrivenRun& run, const ExecutorCapabilities& bits,
                           PhaseExecutionRequest& request) {
  const PreparedAgent& agent = run.setup().agent;
  if (!bits.supports_thinking) request.sampling.effort = ReasoningEffort::unset;
  if (!bits.supports_claude_md_native_walk_up && !agent.project_docs.empty()) {
    request.system_prompt = request.system_prompt.empty()
                                ? agent.project_docs
                                : agent.project_docs + "\n\n" + request.system_prompt;
  }
  if (bits.supports_native_file_tools) {
    std::erase_if(request.tools, [&agent](const ToolSpec& tool) {
      return std::find(agent.file_tools.begin(), agent.file_tools.end(), tool.name) !=
             agent.file_tools.end();
    });
  }
  if (agent.subagents.empty()) return;
  if (bits.supports_native_subagents) {
    request.subagents = agent.subagents;
  } else {
    run.log(request.model + " runs no subagents: it is not told of " +
            std::to_string(agent.subagents.size()));
  }
}

std::optional<PhaseFailed> unsupported_input(const DrivenRun& run,
                                             const PhaseExecutionRequest& request,
                                             const ExecutorCapabilities& bits) {
  const Instance* instance = find_instance(run.state(), request.instance);
  if (instance == nullptr || instance->attachments == 0) return std::nullopt;
  if (bits.supports_image_input) return std::nullopt;
  PhaseFailed failed;
  failed.category = ErrorCategory::validation_error;
  failed.kind = FailureKind::unsupported;
  failed.message = request.model + " takes no images or files, and the conversation has " +
                   std::to_string(instance->attachments);
  return failed;
}

}  // namespace pawl
