// What the Messages API demands of a request, as far as it is known. Written from the facts of the
// wire and not from the code that writes requests.
#pragma once

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/base64.h"
#include "pawl/base/utf8.h"
#include "pawl/json.h"

namespace pawl::provider {

class AnthropicValidator {
 public:
  // Everything that is wrong with the body of a request; empty: nothing.
  static std::vector<std::string> faults(std::string_view body) {
    AnthropicValidator validator;
    const auto json = parse_json(body);
    if (!json || !json->is_object()) return {"the body is no JSON object"};
    validator.top(*json);
    return validator.faults_;
  }

 private:
  static bool blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n\f\v") == text.npos;
  }
  static bool matches(std::string_view text, std::size_t length_max) {
    return !text.empty() && text.size() <= length_max &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '_' || c == '-';
           });
  }
  static std::string at(const Json& json, std::string_view key) {
    const std::string* text = json.find_string(key);
    return text != nullptr ? *text : std::string();
  }
  void require(bool holds, std::string_view fault) {
    if (!holds) faults_.emplace_back(fault);
  }

  void top(const Json& body) {
    static const std::set<std::string> kKnown = {
        "model",       "max_tokens", "messages",       "system",        "tools",
        "tool_choice", "thinking",   "temperature",    "output_config", "cache_control",
        "stream",      "metadata",   "stop_sequences", "service_tier"};
    for (const JsonMember& member : body.object().members()) {
      require(kKnown.contains(member.key), "an unknown member");
    }
    require(!at(body, "model").empty(), "no model");
    const Json* max_tokens = body.find("max_tokens");
    // Counting tokens takes the same body without them.
    max_tokens_ = max_tokens != nullptr ? max_tokens->as_uint64().value_or(0) : 1'000'000;
    require(max_tokens_ >= 1, "max_tokens");
    mark(body);
    system(body.find("system"));
    tools(body);
    thinking(body);
    output(body.find("output_config"));
    messages(body.find("messages"));
    require(marks_ <= 4, "more than four marks for the cache");
  }

  void mark(const Json& holder) {
    const Json* control = holder.find("cache_control");
    if (control == nullptr || control->is_null()) return;
    ++marks_;
    require(at(*control, "type") == "ephemeral", "a mark of an unknown type");
    const std::string type = at(holder, "type");
    require(type != "thinking" && type != "redacted_thinking", "a mark at thinking");
  }

  void system(const Json* system) {
    if (system == nullptr) return;
    if (system->is_string()) return require(!blank(system->string()), "a blank system text");
    require(system->is_array() && !system->array().empty(), "system is no list");
    for (const Json& block : system->array()) {
      require(at(block, "type") == "text" && !blank(at(block, "text")), "system is no text");
      mark(block);
    }
  }

  void tools(const Json& body) {
    const Json* tools = body.find("tools");
    const Json* choice = body.find("tool_choice");
    require(choice == nullptr || tools != nullptr, "a choice without tools");
    if (tools == nullptr) return;
    has_tools_ = true;
    require(tools->is_array() && !tools->array().empty(), "tools is no list");
    std::set<std::string> names;
    for (const Json& tool : tools->array()) {
      const std::string name = at(tool, "name");
      require(matches(name, 128), "the name of a tool");
      require(names.insert(name).second, "two tools of one name");
      mark(tool);
      if (tool.find("type") != nullptr && at(tool, "type") != "custom") continue;  // its own
      const Json* schema = tool.find("input_schema");
      require(schema != nullptr && at(*schema, "type") == "object", "no schema of an object");
      for (const char* key : {"anyOf", "oneOf", "allOf"}) {
        require(schema == nullptr || schema->find(key) == nullptr, "a choice at a schema's top");
      }
    }
    if (choice == nullptr) return;
    const std::string type = at(*choice, "type");
    require(type == "auto" || type == "none" || type == "any" || type == "tool", "tool_choice");
  }

  void thinking(const Json& body) {
    const Json* temperature = body.find("temperature");
    if (temperature != nullptr) {
      const double value = temperature->is_number() ? temperature->number().as_double() : -1;
      require(value >= 0 && value <= 1, "a temperature out of range");
    }
    const Json* thinking = body.find("thinking");
    if (thinking == nullptr) return;
    const std::string type = at(*thinking, "type");
    require(type == "enabled" || type == "adaptive" || type == "disabled", "thinking of a type");
    if (type == "disabled") return;
    require(temperature == nullptr || temperature->number().as_double() == 1,
            "a temperature beside thinking");
    if (type != "enabled") return;
    budgeted_ = true;
    const Json* budget = thinking->find("budget_tokens");
    const std::uint64_t tokens = budget != nullptr ? budget->as_uint64().value_or(0) : 0;
    require(tokens >= 1'024 && tokens < max_tokens_, "a budget out of range");
  }

  void output(const Json* config) {
    if (config == nullptr) return;
    static const std::set<std::string> kEfforts = {"low", "medium", "high", "max", "xhigh"};
    const Json* effort = config->find("effort");
    require(effort == nullptr || kEfforts.contains(effort->string()), "an unknown effort");
    const Json* format = config->find("format");
    if (format == nullptr) return;
    require(at(*format, "type") == "json_schema", "an unknown format");
    closed(format->find("schema"));
  }

  void closed(const Json* schema) {
    require(schema != nullptr && schema->is_object(), "no schema of the output");
    if (schema == nullptr || !schema->is_object()) return;
    for (const char* bound : {"minimum", "maximum", "minLength", "maxLength", "pattern"}) {
      require(schema->find(bound) == nullptr, "a bound in the schema of the output");
    }
    if (at(*schema, "type") != "object") return;
    const Json* more = schema->find("additionalProperties");
    require(more != nullptr && *more == Json(false), "an open object in the schema of the output");
    const Json* properties = schema->find("properties");
    if (properties == nullptr) return;
    for (const JsonMember& member : properties->object().members()) closed(&member.value);
  }

  void messages(const Json* messages) {
    require(messages != nullptr && messages->is_array() && !messages->array().empty(),
            "no messages");
    if (!faults_.empty()) return;
    const JsonArray& all = messages->array();
    std::string before;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string role = at(all[i], "role");
      require(role == "user" || role == "assistant" || role == "system", "an unknown role");
      require(i > 0 || role == "user", "the first role is not user");
      require(role != before, "roles do not alternate");
      before = role;
      last_ = i + 1 == all.size();
      message(all[i], role);
    }
    require(open_calls_.empty(), "calls without results at the end");
    if (all.size() < 2 || !budgeted_ || before != "user" || !answers_) return;
    require(begins_with_thinking_, "tools are answered without the thinking that led to them");
  }

  void message(const Json& message, const std::string& role) {
    const Json* content = message.find("content");
    answers_ = false;
    std::vector<std::string> expected = std::exchange(open_calls_, {});
    if (content != nullptr && content->is_string()) {
      require(!blank(content->string()), "a blank message");
      require(expected.empty(), "calls without results");
      return;
    }
    require(content != nullptr && content->is_array() && !content->array().empty(),
            "an empty message");
    if (content == nullptr || !content->is_array()) return;
    own_calls_.clear();
    place_ = Place::results;
    for (const Json& block : content->array()) {
      if (role == "assistant") assistant(block, &block == &content->array().front());
      if (role == "user") user(block, expected);
      mark(block);
    }
    require(role == "system" || expected.empty(), "calls without results");
    if (role != "assistant") return;
    require(last_ || own_calls_.empty(), "a tool of the provider's own without a result");
    const Json& end = content->array().back();
    const std::string type = at(end, "type");
    require(type != "thinking" && type != "redacted_thinking", "thinking at the end");
    const std::string text = at(end, "text");
    require(!last_ || type != "text" || !blank(text.substr(text.size() - 1)), "space at the end");
  }

  enum class Place { results, rest };

  void user(const Json& block, std::vector<std::string>& expected) {
    const std::string type = at(block, "type");
    if (type == "tool_result") {
      answers_ = true;
      require(place_ == Place::results, "a result behind something else");
      const auto found = std::find(expected.begin(), expected.end(), at(block, "tool_use_id"));
      require(found != expected.end(), "a result without its call");
      if (found != expected.end()) expected.erase(found);
      const Json* content = block.find("content");
      if (content != nullptr && content->is_string()) {
        require(!blank(content->string()), "a blank result");
      }
      return;
    }
    place_ = Place::rest;
    if (type == "text") return require(!blank(at(block, "text")), "a blank text");
    require(type == "image" || type == "document", "a block that no user has");
    const Json* source = block.find("source");
    require(source != nullptr, "an attachment without a source");
    if (source == nullptr || at(*source, "type") != "base64") return;
    static const std::set<std::string> kTypes = {"image/png", "image/jpeg", "image/gif",
                                                 "image/webp", "application/pdf"};
    require(kTypes.contains(at(*source, "media_type")), "a media type");
    const auto bytes = from_base64(at(*source, "data"));
    require(bytes && !bytes->empty(), "bad base64");
  }

  void assistant(const Json& block, bool first) {
    const std::string type = at(block, "type");
    const bool thinks = type == "thinking" || type == "redacted_thinking";
    if (first) begins_with_thinking_ = thinks;
    if (type == "thinking") {
      require(block.find_string("thinking") != nullptr, "thinking without text");
      require(!at(block, "signature").empty(), "thinking without a signature");
    } else if (type == "redacted_thinking") {
      require(!at(block, "data").empty(), "redacted thinking without data");
    } else if (type == "text") {
      require(!blank(at(block, "text")), "a blank text");
    } else if (type == "tool_use") {
      const std::string id = at(block, "id");
      require(matches(id, 64), "the id of a call");
      require(ids_.insert(id).second, "two calls of one id");
      require(matches(at(block, "name"), 200), "the name of a called tool");
      const Json* input = block.find("input");
      require(input != nullptr && input->is_object(), "an input that is no object");
      require(has_tools_, "calls without tools");
      open_calls_.push_back(id);
    } else if (type.ends_with("tool_use")) {
      require(own_calls_.insert(at(block, "id")).second, "two own calls of one id");
    } else if (type.ends_with("_tool_result")) {
      require(own_calls_.erase(at(block, "tool_use_id")) == 1, "an own result without its call");
    } else {
      require(type != "image" && type != "tool_result", "a block that no assistant has");
    }
  }

  std::vector<std::string> faults_;
  std::uint64_t max_tokens_ = 0;
  std::size_t marks_ = 0;
  bool has_tools_ = false;
  bool budgeted_ = false;
  bool last_ = false;
  bool answers_ = false;               // the last message holds results
  bool begins_with_thinking_ = false;  // the last assistant message does
  Place place_ = Place::results;
  std::set<std::string> ids_;
  std::set<std::string> own_calls_;
  std::vector<std::string> open_calls_;
};

}  // namespace pawl::provider
