// What POST /v1/responses accepts, as strictly as it is documented.
#pragma once

#include <optional>

#include "pawl/adapter/provider/openai/openai_faults_test.h"

namespace pawl::provider::openai_test {

class ResponsesValidator {
 public:
  ResponsesValidator(const Json& body, Author author) : body_(body), author_(author) {}

  Fault fault() {
    static const Words kKnown{"model",
                              "input",
                              "instructions",
                              "tools",
                              "tool_choice",
                              "stream",
                              "store",
                              "include",
                              "reasoning",
                              "text",
                              "temperature",
                              "background",
                              "previous_response_id",
                              "conversation",
                              "max_output_tokens",
                              "service_tier",
                              "moderation",
                              "parallel_tool_calls",
                              "prompt_cache_key"};
    if (Fault f = check_keys(body_, kKnown); !f.empty()) return f;
    if (string_in(body_, "model").empty()) return "no model";
    if (Fault f = check_sampling(body_); !f.empty()) return f;
    if (Fault f = check_settings(); !f.empty()) return f;
    if (Fault f = check_tools(); !f.empty()) return f;
    const Json* const input = body_.find("input");
    if (input == nullptr) return "no input";
    if (input->is_string()) return is_blank_text(input->string()) ? "a blank input" : "";
    if (!input->is_array() || input->array().empty()) return "an empty input";
    return check_items(input->array());
  }

 private:
  Fault check_settings() const {
    if (const Json* most = body_.find("max_output_tokens"); most && *most->as_uint64() < 16) {
      return "max_output_tokens below 16";
    }
    if (const Json* reasoning = body_.find("reasoning")) {
      static const Words kEfforts{"", "none", "minimal", "low", "medium", "high", "xhigh"};
      if (Fault f = check_keys(*reasoning, {"effort", "summary"}); !f.empty()) return f;
      if (!kEfforts.contains(string_in(*reasoning, "effort"))) return "no effort";
      if (reasoning->object().empty()) return "an empty reasoning";
    }
    if (const Json* text = body_.find("text")) {
      const Json* const format = text->find("format");
      if (format == nullptr) return "text without a format";
      if (string_in(*format, "type") == "json_schema") return check_schema_format(*format);
    }
    const Json* const store = body_.find("store");
    const bool keeps = store == nullptr || store->boolean();
    if (!keeps && body_.find("previous_response_id")) return "goes on from what was not kept";
    return string_in(body_, "prompt_cache_key").size() <= 64 ? "" : "prompt_cache_key too long";
  }

  Fault check_tools() const {
    const Json* const tools = body_.find("tools");
    if (tools == nullptr) return body_.find("parallel_tool_calls") ? "parallel without tools" : "";
    if (!tools->is_array() || tools->array().empty()) return "no list of tools";
    Words names;
    for (const Json& tool : tools->array()) {
      if (string_in(tool, "type") != "function") continue;
      if (Fault f = check_function(tool, names); !f.empty()) return f;
    }
    return "";
  }

  Fault check_items(const JsonArray& items) {
    for (const Json& item : items) {
      if (Fault f = check_item(item); !f.empty()) return f + " in " + write_json(item);
    }
    if (!open_.empty()) return "a call without its output";
    if (thinks_) return "a thought that leads to nothing";
    if (author_ == Author::pawl && last_ != "user" && last_ != "output") {
      return "the last word is not the user's";
    }
    return "";
  }

  Fault check_item(const Json& item) {
    std::string type = string_in(item, "type");
    if (type.empty() && item.find("role") != nullptr) type = "message";
    if (type == "message") return check_message(item);
    if (type == "function_call") return check_call(item);
    if (type == "function_call_output") return check_output(item);
    if (type == "reasoning") return check_reasoning(item);
    if (type.empty()) return "an item without a type";
    return check_other(item, type);
  }

  Fault check_message(const Json& item) {
    const std::string role = string_in(item, "role");
    const Words roles{"user", "assistant", "system", "developer"};
    if (!roles.contains(role)) return "no role";
    if (!open_.empty() && author_ == Author::pawl && role == "user") return "words before outputs";
    if (role == "user" && thinks_) return "a thought that leads to nothing";
    thinks_ = false;
    last_ = role;
    const Json* const content = item.find("content");
    if (content == nullptr) return "no content";
    if (content->is_string()) {
      const bool may_be_blank = role == "assistant" && author_ == Author::recorded;
      return !may_be_blank && is_blank_text(content->string()) ? "a blank text" : "";
    }
    if (!content->is_array() || content->array().empty()) return "an empty content";
    for (const Json& part : content->array()) {
      if (Fault f = check_part(part, role); !f.empty()) return f;
    }
    return "";
  }

  static Fault check_part(const Json& part, const std::string& role) {
    const std::string type = string_in(part, "type");
    if (type == (role == "assistant" ? "output_text" : "input_text")) {
      return is_blank_text(string_in(part, "text")) ? "a blank text" : "";
    }
    if (role != "user") return "a part that only users send";
    if (type == "input_image") return check_data_url(string_in(part, "image_url"));
    if (type != "input_file") return "an unknown part";
    if (part.find("file_url") != nullptr) return "";
    if (string_in(part, "filename").empty()) return "a file without a name";
    return check_data_url(string_in(part, "file_data"));
  }

  Fault check_call(const Json& item) {
    thinks_ = false;
    last_ = "call";
    const std::string id = string_in(item, "call_id");
    if (!is_wire_word(id)) return "no proper id";
    if (!is_wire_word(string_in(item, "name"))) return "no proper name";
    if (!seen_.insert(id).second) return "an id twice";
    open_.insert(id);
    return check_arguments(item);
  }

  Fault check_output(const Json& item) {
    if (thinks_) return "a thought that leads to nothing";
    last_ = "output";
    if (item.find("output") == nullptr) return "no output";
    const std::string id = string_in(item, "call_id");
    if (open_.erase(id) == 1) return "";
    const bool known = body_.find("previous_response_id") != nullptr && seen_.insert(id).second;
    return known ? "" : "an output without its call";
  }

  Fault check_reasoning(const Json& item) {
    thinks_ = true;
    if (!item.find("summary") || !item.find("summary")->is_array()) return "no summary";
    const Json* const store = body_.find("store");
    if (store == nullptr || store->boolean()) return "";
    const Json* const content = item.find("content");
    const bool has_content = content && content->is_array() && !content->array().empty();
    const bool opens = !string_in(item, "encrypted_content").empty() || has_content;
    return opens ? "" : "a thought that nobody kept";
  }

  Fault check_other(const Json& item, const std::string& type) {
    static const Words kAnswered{"custom_tool_call", "shell_call", "local_shell_call",
                                 "apply_patch_call", "computer_call"};
    thinks_ = false;
    last_ = type.ends_with("_output") ? "output" : "other";
    const std::string id = string_in(item, "call_id");
    if (kAnswered.contains(type)) open_.insert(id);
    if (type.ends_with("_output") && open_.erase(id) != 1) return "an output without its call";
    return "";
  }

  const Json& body_;
  const Author author_;
  Words seen_;
  Words open_;
  bool thinks_ = false;
  std::string last_;
};

inline Fault responses_fault(const Json& body, Author author) {
  return ResponsesValidator(body, author).fault();
}

}  // namespace pawl::provider::openai_test
