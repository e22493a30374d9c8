// What generateContent demands of a request, as far as it is known. Written from the facts of the
// wire and not from the code that writes requests.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/base/base64.h"
#include "pawl/json.h"

namespace pawl::provider {

class GeminiValidator {
 public:
  enum class Signatures { optional, demanded };
  static std::vector<std::string> faults(std::string_view body, Signatures signatures) {
    GeminiValidator validator;
    validator.signatures_ = signatures;
    const auto json = parse_json(body);
    if (!json || !json->is_object()) return {"the body is no JSON object"};
    validator.top(*json);
    return validator.faults_;
  }

 private:
  static bool blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n\f\v") == text.npos;
  }
  static bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 &&
           (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_') &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
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
    static const std::set<std::string> kKnown = {"contents", "tools", "systemInstruction",
                                                 "generationConfig", "toolConfig"};
    for (const JsonMember& member : body.object().members()) {
      require(kKnown.contains(member.key), "an unknown member");
    }
    if (const Json* system = body.find("systemInstruction")) {
      require(!system->find("parts")->array().empty(), "an empty system instruction");
      for (const Json& part : system->find("parts")->array()) {
        require(!blank(at(part, "text")), "a blank system text");
      }
    }
    tools(body.find("tools"));
    generation(body.find("generationConfig"));
    const Json* contents = body.find("contents");
    require(contents != nullptr && contents->is_array() && !contents->array().empty(),
            "no contents");
    if (faults_.empty()) all_contents(contents->array());
  }

  void tools(const Json* tools) {
    if (tools == nullptr) return;
    std::set<std::string> names;
    for (const Json& tool : tools->array()) {
      const Json* declarations = tool.find("functionDeclarations");
      if (declarations == nullptr) continue;  // One of its own.
      for (const Json& declaration : declarations->array()) {
        require(is_name(at(declaration, "name")), "the name of a function");
        require(names.insert(at(declaration, "name")).second, "two functions of one name");
        const Json* schema = declaration.find("parametersJsonSchema");
        if (schema == nullptr) continue;
        require(at(*schema, "type") == "object", "parameters that are no object");
        const Json* properties = schema->find("properties");
        require(properties != nullptr && !properties->object().empty(), "no properties");
      }
    }
  }

  void generation(const Json* config) {
    if (config == nullptr) return;
    if (const Json* thinking = config->find("thinkingConfig")) {
      const bool budget = thinking->find("thinkingBudget") != nullptr;
      const bool level = thinking->find("thinkingLevel") != nullptr;
      require(!(budget && level), "a budget and a level");
    }
    require((config->find("responseJsonSchema") == nullptr) ==
                (config->find("responseMimeType") == nullptr),
            "a schema without a type, or a type without a schema");
  }

  void all_contents(const JsonArray& all) {
    std::string before;
    for (const Json& content : all) {
      const std::string role = at(content, "role");
      require(role == "user" || role == "model", "an unknown role");
      require(!before.empty() || role == "user", "the first role is not user");
      require(role != before, "roles do not alternate");
      before = role;
      const Json* parts = content.find("parts");
      require(parts != nullptr && parts->is_array() && !parts->array().empty(), "no parts");
      if (parts == nullptr || !parts->is_array()) return;
      expected_ = std::exchange(calls_, {});
      first_call_ = true;
      for (const Json& part : parts->array()) role == "user" ? user(part) : model(part);
      require(expected_.empty(), "calls without responses");
    }
    require(before == "user", "the last role is not user");
    require(calls_.empty(), "calls at the end");
  }

  void user(const Json& part) {
    if (const Json* response = part.find("functionResponse")) {
      const auto wanted = std::pair(at(*response, "name"), at(*response, "id"));
      require(!expected_.empty() && expected_.front() == wanted, "a response out of order");
      if (!expected_.empty()) expected_.erase(expected_.begin());
      const Json* said = response->find("response");
      require(said != nullptr && said->is_object(), "a response that is no object");
      return;
    }
    require(expected_.empty(), "something before the responses");
    if (const Json* data = part.find("inlineData")) {
      static const std::set<std::string> kTypes = {"image/png", "image/jpeg", "image/gif",
                                                   "image/webp", "application/pdf"};
      require(kTypes.contains(at(*data, "mimeType")), "a media type");
      const auto bytes = from_base64(at(*data, "data"));
      require(bytes && !bytes->empty(), "bad base64");
      return;
    }
    require(!blank(at(part, "text")), "a blank text");
    require(part.find("thought") == nullptr, "a thought of the user's");
  }

  void model(const Json& part) {
    require(part.find("functionResponse") == nullptr, "a response of the model's");
    const bool is_signed = !at(part, "thoughtSignature").empty();
    if (const Json* call = part.find("functionCall")) {
      require(is_name(at(*call, "name")), "the name of a call");
      require(ids_.insert(at(*call, "id")).second, "two calls of one id");
      const Json* args = call->find("args");
      require(args != nullptr && args->is_object(), "arguments that are no object");
      require(is_signed || !first_call_ || signatures_ == Signatures::optional,
              "a first call without a signature");
      first_call_ = false;
      calls_.emplace_back(at(*call, "name"), at(*call, "id"));
    } else if (part.find("text") != nullptr) {
      require(is_signed || !blank(at(part, "text")), "a blank text");
      require(is_signed || part.find("thought") == nullptr, "a thought without a signature");
    }
  }

  std::vector<std::string> faults_;
  Signatures signatures_ = Signatures::optional;
  bool first_call_ = true;
  std::set<std::string> ids_;
  std::vector<std::pair<std::string, std::string>> calls_;     // of the last content
  std::vector<std::pair<std::string, std::string>> expected_;  // of the one before it
};

}  // namespace pawl::provider
