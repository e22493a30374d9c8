#include <algorithm>
#include <set>
#include <utility>

#include "pawl/testing/fake_provider/dialects/validate.h"

namespace pawl::fake {
namespace {

constexpr std::int64_t kThinkingBudgetMin = 1024;

// The ids under `key` in the blocks of this type.
std::vector<std::string> ids_in(const Json& message, std::string_view type, std::string_view key) {
  std::vector<std::string> ids;
  const JsonArray* content = list_of(message, "content");
  if (content == nullptr) return ids;
  for (const Json& block : *content) {
    if (text_of(block, "type") == type) ids.push_back(text_of(block, key));
  }
  return ids;
}

std::optional<FakeError> check_message(const Json& message, const std::string& where) {
  const std::string role = text_of(message, "role");
  if (role != "user" && role != "assistant" && role != "system") {
    return invalid_request(where + ".role: Input should be 'user' or 'assistant'");
  }
  const Json* content = message.find("content");
  if (content == nullptr) return invalid_request(where + ".content: Field required");
  if (!content->is_array() && !content->is_string()) {
    return invalid_request(where + ".content: Input should be a valid list");
  }
  if (content->is_string()) return std::nullopt;
  for (std::size_t i = 0; i < content->array().size(); ++i) {
    const Json& block = content->array()[i];
    const std::string at = where + ".content." + std::to_string(i);
    const std::string type = text_of(block, "type");
    if (type.empty()) return invalid_request(at + ".type: Field required");
    if (type == "text" && text_of(block, "text").empty()) {
      return invalid_request("messages: text content blocks must be non-empty");
    }
    if (type == "thinking" && block.find("signature") == nullptr) {
      return invalid_request(at + ".thinking.signature: Field required");
    }
  }
  return std::nullopt;
}

bool is_empty(const Json& message) {
  const Json* content = message.find("content");
  if (content == nullptr) return true;
  return content->is_string() ? content->string().empty()
                              : content->is_array() && content->array().empty();
}

// Every tool_result answers a tool_use of the message before it, and every tool_use is answered.
std::optional<FakeError> check_pairs(const JsonArray& messages) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string where = "messages." + std::to_string(i);
    const std::vector<std::string> results = ids_in(messages[i], "tool_result", "tool_use_id");
    for (const std::string& id : results) {
      const auto found = std::find(open.begin(), open.end(), id);
      if (found == open.end()) {
        return invalid_request(where +
                               ".content.0: unexpected `tool_use_id` found in "
                               "`tool_result` blocks: " +
                               id +
                               ". Each `tool_result` block must "
                               "have a corresponding `tool_use` block in the previous message.");
      }
      open.erase(found);
    }
    if (!open.empty()) {
      return invalid_request("messages." + std::to_string(i - 1) +
                             ": `tool_use` ids were found "
                             "without `tool_result` blocks immediately after: " +
                             open.front() +
                             ". Each `tool_use` block must have a corresponding `tool_result` "
                             "block in the next message.");
    }
    open = ids_in(messages[i], "tool_use", "id");
  }
  if (open.empty()) return std::nullopt;
  return invalid_request("messages." + std::to_string(messages.size() - 1) +
                         ": `tool_use` ids were found without `tool_result` blocks immediately "
                         "after: " +
                         open.front() + ".");
}

std::optional<FakeError> check_messages(const JsonArray& messages) {
  if (messages.empty()) return invalid_request("messages: at least one message is required");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string where = "messages." + std::to_string(i);
    if (auto error = check_message(messages[i], where)) return error;
    const bool may_be_empty =
        i + 1 == messages.size() && text_of(messages[i], "role") == "assistant";
    if (is_empty(messages[i]) && !may_be_empty) {
      return invalid_request(where +
                             ": all messages must have non-empty content except for the "
                             "optional final assistant message");
    }
  }
  if (text_of(messages.front(), "role") == "assistant") {
    return invalid_request("messages: first message must use the \"user\" role");
  }
  return check_pairs(messages);
}

std::optional<FakeError> check_settings(const Json& body) {
  const Json* tokens = body.find("max_tokens");
  if (tokens == nullptr) return invalid_request("max_tokens: Field required");
  const auto count = tokens->as_int64();
  if (!count) return invalid_request("max_tokens: Input should be a valid integer");
  if (*count < 1) return invalid_request("max_tokens: must be greater than or equal to 1");
  const Json* thinking = body.find("thinking");
  const Json* budget = thinking != nullptr ? thinking->find("budget_tokens") : nullptr;
  if (budget == nullptr) return std::nullopt;
  const std::int64_t wanted = budget->as_int64().value_or(0);
  if (wanted < kThinkingBudgetMin) {
    return invalid_request(
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  }
  if (wanted >= *count) {
    return invalid_request("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  return std::nullopt;
}

std::optional<FakeError> check_tools(const Json& body) {
  const JsonArray* tools = list_of(body, "tools");
  if (tools == nullptr) return std::nullopt;
  std::set<std::string> names;
  for (std::size_t i = 0; i < tools->size(); ++i) {
    const std::string name = text_of((*tools)[i], "name");
    const std::string where = "tools." + std::to_string(i);
    if (name.empty()) return invalid_request(where + ".custom.name: Field required");
    if (!names.insert(name).second) return invalid_request("tools: Tool names must be unique.");
    const bool custom = text_of((*tools)[i], "type").empty();
    if (custom && (*tools)[i].find("input_schema") == nullptr) {
      return invalid_request(where + ".custom.input_schema: Field required");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<FakeError> check_anthropic(const ModelRequest& request) {
  const Json& body = request.body;
  if (request.model.empty()) return invalid_request("model: Field required");
  if (request.route.api == Api::anthropic_messages) {
    if (auto error = check_settings(body)) return error;
  }
  const JsonArray* messages = list_of(body, "messages");
  if (messages == nullptr) return invalid_request("messages: Field required");
  if (auto error = check_tools(body)) return error;
  return check_messages(*messages);
}

}  // namespace pawl::fake
