// What POST /v1/chat/completions accepts, as strictly as it is documented.
#pragma once

#include "pawl/adapter/provider/openai/openai_faults_test.h"

namespace pawl::provider::openai_test {

class ChatValidator {
 public:
  ChatValidator(const Json& body, Author author) : body_(body), author_(author) {}

  Fault fault() {
    static const Words kKnown{"model",
                              "messages",
                              "tools",
                              "tool_choice",
                              "stream",
                              "stream_options",
                              "service_tier",
                              "temperature",
                              "response_format",
                              "n",
                              "reasoning_effort",
                              "max_tokens",
                              "max_completion_tokens",
                              "reasoning",
                              "moderation",
                              "prompt_cache_key"};
    if (Fault f = check_keys(body_, kKnown); !f.empty()) return f;
    if (string_in(body_, "model").empty()) return "no model";
    if (Fault f = check_sampling(body_); !f.empty()) return f;
    if (Fault f = check_settings(); !f.empty()) return f;
    if (Fault f = check_tools(); !f.empty()) return f;
    const Json* const messages = body_.find("messages");
    if (messages == nullptr || !messages->is_array() || messages->array().empty()) {
      return "no messages";
    }
    for (const Json& message : messages->array()) {
      if (Fault f = check_message(message); !f.empty()) return f + " in " + write_json(message);
    }
    if (!open_.empty()) return "a call without its result";
    return last_ == "user" || last_ == "tool" ? "" : "the last word is not the user's";
  }

 private:
  Fault check_settings() const {
    if (body_.find("max_tokens") && body_.find("max_completion_tokens")) return "two bounds";
    const Json* const stream = body_.find("stream");
    const bool streams = stream != nullptr && stream->boolean();
    if (body_.find("stream_options") && !streams) return "stream_options without a stream";
    if (const Json* effort = body_.find("reasoning_effort")) {
      static const Words kEfforts{"none", "minimal", "low", "medium", "high", "xhigh"};
      if (!effort->is_string() || !kEfforts.contains(effort->string())) return "no effort";
    }
    const Json* const format = body_.find("response_format");
    if (format == nullptr || string_in(*format, "type") != "json_schema") return "";
    const Json* const schema = format->find("json_schema");
    return schema != nullptr ? check_schema_format(*schema) : "a format without its schema";
  }

  Fault check_tools() const {
    const Json* const tools = body_.find("tools");
    if (tools == nullptr) return "";
    if (!tools->is_array() || tools->array().empty()) return "no list of tools";
    Words names;
    for (const Json& tool : tools->array()) {
      const Json* const function = tool.find("function");
      if (function == nullptr && author_ == Author::recorded) continue;
      if (string_in(tool, "type") != "function" || function == nullptr) return "no function";
      if (Fault f = check_function(*function, names); !f.empty()) return f;
    }
    return "";
  }

  Fault check_message(const Json& message) {
    const std::string role = string_in(message, "role");
    const std::string before = last_;
    last_ = role;
    if (role == "tool") return check_result(message);
    if (!open_.empty()) return "words before results";
    if (role == "assistant") return check_assistant(message, before);
    if (role == "system" || role == "developer") {
      if (!before.empty()) return "a system prompt that is not the first";
    } else if (role != "user") {
      return "no role";
    } else if (before == "user" && author_ == Author::pawl) {
      return "the user spoke twice";
    }
    const Json* const content = message.find("content");
    if (content == nullptr) return "no content";
    if (content->is_string()) return is_blank_text(content->string()) ? "a blank text" : "";
    if (!content->is_array() || content->array().empty()) return "an empty content";
    for (const Json& part : content->array()) {
      if (Fault f = check_part(part); !f.empty()) return f;
    }
    return "";
  }

  static Fault check_part(const Json& part) {
    const std::string type = string_in(part, "type");
    if (type == "text") return is_blank_text(string_in(part, "text")) ? "a blank text" : "";
    const Json* const image = part.find("image_url");
    if (type == "image_url" && image != nullptr) return check_data_url(string_in(*image, "url"));
    const Json* const file = part.find("file");
    if (type != "file" || file == nullptr) return "an unknown part";
    if (string_in(*file, "filename").empty()) return "a file without a name";
    return check_data_url(string_in(*file, "file_data"));
  }

  Fault check_assistant(const Json& message, const std::string& before) {
    static const Words kKnown{"role", "content", "tool_calls", "reasoning", "reasoning_content"};
    if (Fault f = check_keys(message, kKnown); !f.empty()) return f;
    if (before == "assistant") return "the assistant spoke twice";
    const Json* const content = message.find("content");
    if (content == nullptr || (!content->is_string() && !content->is_null())) return "no content";
    const Json* const calls = message.find("tool_calls");
    if (calls == nullptr) return is_blank_text(string_in(message, "content")) ? "no words" : "";
    if (!calls->is_array() || calls->array().empty()) return "an empty list of calls";
    for (const Json& call : calls->array()) {
      if (Fault f = check_call(call); !f.empty()) return f;
    }
    return "";
  }

  Fault check_call(const Json& call) {
    const std::string id = string_in(call, "id");
    if (!is_wire_word(id) || !seen_.insert(id).second) return "no proper id";
    open_.insert(id);
    const Json* const function = call.find("function");
    if (string_in(call, "type") != "function" || function == nullptr) return "no function";
    if (!is_wire_word(string_in(*function, "name"))) return "no proper name";
    return check_arguments(*function);
  }

  Fault check_result(const Json& message) {
    const Json* const content = message.find("content");
    if (content == nullptr || !content->is_string()) return "no content";
    return open_.erase(string_in(message, "tool_call_id")) == 1 ? "" : "a result without its call";
  }

  const Json& body_;
  const Author author_;
  Words seen_;
  Words open_;
  std::string last_;
};

inline Fault chat_fault(const Json& body, Author author) {
  return ChatValidator(body, author).fault();
}

}  // namespace pawl::provider::openai_test
