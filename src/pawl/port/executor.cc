#include "pawl/executor.h"

#include <algorithm>
#include <utility>

#include "pawl/port/write_guard.h"

namespace pawl {
namespace {

class ListedTranscript final : public Transcript {
 public:
  explicit ListedTranscript(std::vector<Message> messages) : messages_(std::move(messages)) {}
  std::size_t length() const override { return messages_.size(); }
  Result<std::vector<Message>> load(MessageRange range) const override {
    const std::size_t first = std::min(range.first, messages_.size());
    const std::size_t count = std::min(range.count, messages_.size() - first);
    const auto begin = messages_.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector<Message>(begin, begin + static_cast<std::ptrdiff_t>(count));
  }

 private:
  std::vector<Message> messages_;
};

Message message_of(const ChatMessage& said) {
  Message message;
  message.role = said.role;
  if (said.role == Role::assistant) {
    message.blocks.emplace_back(TextBlock{Content(said.text)});
  } else {
    message.text = Content(said.text);
  }
  return message;
}

}  // namespace

std::shared_ptr<const Transcript> make_transcript(std::vector<Message> messages) {
  return std::make_shared<ListedTranscript>(std::move(messages));
}

std::size_t bytes_of(const Message& message) {
  std::size_t bytes = sizeof(Message) + message.text.length();
  for (const Attachment& one : message.attachments) bytes += one.bytes.length();
  const auto of_block = [](const auto& one) {
    if constexpr (requires { one.text; }) return one.text.length();
    if constexpr (requires { one.input; }) return one.input.length();
    if constexpr (requires { one.json; }) return one.json.length();
  };
  for (const Block& block : message.blocks) bytes += sizeof(Block) + std::visit(of_block, block);
  return bytes;
}

Result<std::vector<Message>> load_conversation(const PhaseExecutionRequest& request) {
  if (!request.transcript) return std::vector<Message>();
  return request.transcript->load({});
}

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
  std::vector<Message> messages;
  for (const ChatMessage& said : request.messages) messages.push_back(message_of(said));
  phase.transcript = make_transcript(std::move(messages));
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
