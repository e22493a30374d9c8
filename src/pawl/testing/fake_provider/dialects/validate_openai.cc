#include <algorithm>
#include <array>
#include <utility>

#include "pawl/testing/fake_provider/dialects/validate.h"

namespace pawl::fake {
namespace {

constexpr double kTemperatureMax = 2;

FakeError missing(const std::string& name) {
  return invalid_request("Missing required parameter: '" + name + "'.", name,
                         "missing_required_parameter");
}

std::optional<FakeError> check_temperature(const Json& body) {
  const Json* value = body.find("temperature");
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double temperature = value->number().as_double();
  if (temperature >= 0 && temperature <= kTemperatureMax) return std::nullopt;
  const bool low = temperature < 0;
  return invalid_request(std::string("Invalid 'temperature': decimal ") +
                             (low ? "below minimum value. Expected a value >= 0"
                                  : "above maximum value. Expected a value <= 2") +
                             ", but got " + value->number().text + " instead.",
                         "temperature",
                         low ? "decimal_below_min_value" : "decimal_above_max_value");
}

bool is_role(const std::string& role) {
  static constexpr std::array<std::string_view, 6> kRoles = {"system",   "assistant", "user",
                                                             "function", "tool",      "developer"};
  return std::find(kRoles.begin(), kRoles.end(), role) != kRoles.end();
}

FakeError unanswered(const std::string& id, std::size_t at) {
  return invalid_request(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
      "'tool_call_id'. The following tool_call_ids did not have response messages: " +
          id,
      "messages.[" + std::to_string(at) + "].role");
}

std::optional<FakeError> check_roles(const JsonArray& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string role = text_of(messages[i], "role");
    if (is_role(role)) continue;
    return invalid_request("Invalid value: '" + role +
                               "'. Supported values are: 'system', 'assistant', 'user', "
                               "'function', 'tool', and 'developer'.",
                           "messages[" + std::to_string(i) + "].role", "invalid_value");
  }
  return std::nullopt;
}

std::optional<FakeError> check_pairs(const JsonArray& messages) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Json& message = messages[i];
    if (text_of(message, "role") == "tool") {
      const auto found = std::find(open.begin(), open.end(), text_of(message, "tool_call_id"));
      if (found == open.end()) {
        return invalid_request(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
            "message with 'tool_calls'.",
            "messages.[" + std::to_string(i) + "].role");
      }
      open.erase(found);
      continue;
    }
    if (!open.empty()) return unanswered(open.front(), i);
    if (const JsonArray* calls = list_of(message, "tool_calls")) {
      for (const Json& call : *calls) open.push_back(text_of(call, "id"));
    }
  }
  if (!open.empty()) return unanswered(open.front(), messages.size() - 1);
  return std::nullopt;
}

std::optional<FakeError> check_items(const JsonArray& items) {
  std::vector<std::string> calls;
  for (const Json& item : items) {
    const std::string type = text_of(item, "type");
    const std::string id = text_of(item, "call_id");
    if (type == "function_call") calls.push_back(id);
    if (type != "function_call_output") continue;
    const auto found = std::find(calls.begin(), calls.end(), id);
    if (found == calls.end()) {
      return invalid_request("No tool call found for function call output with call_id " + id + ".",
                             "input");
    }
    calls.erase(found);
  }
  if (calls.empty()) return std::nullopt;
  return invalid_request("No tool output found for function call " + calls.front() + ".", "input");
}

}  // namespace

std::optional<FakeError> check_chat(const ModelRequest& request) {
  if (request.model.empty()) return invalid_request("you must provide a model parameter");
  const JsonArray* messages = list_of(request.body, "messages");
  if (messages == nullptr) return missing("messages");
  if (messages->empty()) {
    return invalid_request(
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        "messages", "empty_array");
  }
  if (auto error = check_temperature(request.body)) return error;
  if (auto error = check_roles(*messages)) return error;
  return check_pairs(*messages);
}

std::optional<FakeError> check_responses(const ModelRequest& request) {
  if (request.model.empty()) return missing("model");
  const Json* input = request.body.find("input");
  const bool goes_on = request.body.find("previous_response_id") != nullptr ||
                       request.body.find("conversation") != nullptr ||
                       request.body.find("prompt") != nullptr;
  if (input == nullptr && !goes_on) {
    return invalid_request(
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be "
        "provided.",
        "input", "missing_required_parameter");
  }
  if (auto error = check_temperature(request.body)) return error;
  if (input == nullptr || input->is_string()) return std::nullopt;
  if (!input->is_array()) {
    return invalid_request("Invalid type for 'input': expected one of a string or array.", "input",
                           "invalid_type");
  }
  // What a stored conversation holds is not known here.
  return goes_on ? std::nullopt : check_items(input->array());
}

}  // namespace pawl::fake
