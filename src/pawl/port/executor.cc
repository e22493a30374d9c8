#include "pawl/port/executor.h"

#include <algorithm>
#include <utility>

#include "pawl/port/write_guard.h"

namespace pawl {
namespace {

class ChatTranscript final : public Transcript {
 public:
  explicit ChatTranscript(std::vector<ChatMessage> messages) : messages_(std::move(messages)) {}
  std::size_t length() const override { return messages_.size(); }
  Result<Message> at(std::size_t index) const override {
    if (index >= messages_.size()) return Error{ErrorCode::not_found, "no such message"};
    const ChatMessage& said = messages_[index];
    Message message;
    message.role = said.role;
    if (said.role == Role::assistant) {
      message.blocks.emplace_back(TextBlock{Content(said.text)});
    } else {
      message.text = Content(said.text);
    }
    return message;
  }

 private:
  std::vector<ChatMessage> messages_;
};

}  // namespace

Status check_capabilities(const ExecutorCapabilities& capabilities) {
  if (capabilities.supports_session_resume == capabilities.supports_conversation_replay) {
    return Error{
        ErrorCode::invalid_argument,
        capabilities.supports_session_resume
            ? "an executor declares exactly one resume strategy, and this one declares both "
              "session resume and conversation replay"
            : "an executor declares exactly one resume strategy, and this one declares "
              "neither session resume nor conversation replay"};
  }
  return ok();
}

HookDecision check(const HookPolicy& policy, const std::string& tool, const std::string& input) {
  using Verdict = HookDecision::Verdict;
  if (policy.allowed_tools) {
    const auto& allowed = *policy.allowed_tools;
    if (std::find(allowed.begin(), allowed.end(), tool) == allowed.end()) {
      std::string list;
      for (const std::string& one : allowed) list += (list.empty() ? "" : ", ") + one;
      return {Verdict::deny, "the tool " + tool + " is not allowed; the allowed ones are: " +
                                 (list.empty() ? std::string("none") : list)};
    }
  }
  if (policy.write_roots) {
    std::string objection = write_objection(*policy.write_roots, policy.directory, tool, input);
    if (!objection.empty()) return {Verdict::deny, std::move(objection)};
  }
  if (!policy.on_pre_tool_use) return {};
  try {
    return policy.on_pre_tool_use(tool, input);
  } catch (...) {  // A hook of the host's: it fails closed.
    return {Verdict::deny, "the check before tools failed"};
  }
}

ExecutorCapabilities Executor::capabilities_of(std::string_view model) const {
  ExecutorCapabilities bits = capabilities();
  for (const ExecutorModelDescriptor& one : list_models()) {
    if (one.id != model) continue;
    using Support = ExecutorModelDescriptor::Support;
    bits.supports_thinking = bits.supports_thinking && one.thinking == Support::yes;
    bits.supports_image_input = bits.supports_image_input && one.images == Support::yes;
    if (one.context_tokens > 0) bits.max_context_tokens = one.context_tokens;
  }
  return bits;
}

std::optional<std::uint64_t> Executor::calculate_cost(const std::string&, std::string_view,
                                                      const Usage&) const {
  return std::nullopt;
}

std::unique_ptr<Operation> Executor::chat(const ChatRequest& request, PhaseEventSink sink) {
  PhaseExecutionRequest phase;
  phase.run = RunId{"chat"};
  phase.step = 1;
  phase.model = request.model;
  phase.system_prompt = request.system_prompt;
  phase.transcript = std::make_shared<ChatTranscript>(request.messages);
  phase.sampling = request.sampling;
  phase.output_schema = request.output_schema;
  phase.tenant = request.tenant;
  return execute_phase(phase, std::move(sink));
}

std::vector<McpServerConfig> Executor::mcp_servers() const {
  auto own = mcp_server();
  if (!own) return {};
  return {*std::move(own)};
}

std::unique_ptr<Operation> Executor::test_connection(std::function<void(Status)> done) {
  done(Error{ErrorCode::invalid_argument, "this executor has no connection to test"});
  return nullptr;
}

}  // namespace pawl
