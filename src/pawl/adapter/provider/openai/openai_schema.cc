#include "pawl/adapter/provider/openai/openai_schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/adapter/provider/openai/openai_wire.h"

namespace pawl::provider {
namespace {

constexpr std::size_t kStrictDepthMax = 10;  // The provider refuses deeper ones, too.
constexpr std::array<std::string_view, 12> kStrictWords{
    "type",        "properties", "required", "additionalProperties",
    "items",       "anyOf",      "enum",     "const",
    "description", "title",      "$defs",    "$ref"};

bool requires_all(const Json& schema, const JsonObject& properties) {
  const Json* const required = schema.find("required");
  const JsonArray* const names = required != nullptr ? required->if_array() : nullptr;
  return std::ranges::all_of(properties.members(), [&](const JsonMember& property) {
    return names != nullptr && std::ranges::any_of(*names, [&](const Json& one) {
             return one.is_string() && one.string() == property.key;
           });
  });
}

bool is_strict(const Json& schema, std::size_t depth);

bool are_strict(const Json* schemas, std::size_t depth) {
  if (schemas == nullptr) return true;
  if (const JsonArray* list = schemas->if_array()) {
    return std::ranges::all_of(*list, [&](const Json& one) { return is_strict(one, depth); });
  }
  const JsonObject* const named = schemas->if_object();
  return named != nullptr && std::ranges::all_of(named->members(), [&](const JsonMember& one) {
           return is_strict(one.value, depth);
         });
}

bool is_closed_object(const Json& schema) {
  const Json* const more = schema.find("additionalProperties");
  const Json* const properties = schema.find("properties");
  return more != nullptr && more->is_boolean() && !more->boolean() && properties != nullptr &&
         properties->is_object() && requires_all(schema, properties->object());
}

bool is_strict(const Json& schema, std::size_t depth) {
  if (!schema.is_object() || depth >= kStrictDepthMax) return false;
  for (const JsonMember& member : schema.object().members()) {
    if (std::ranges::find(kStrictWords, member.key) == kStrictWords.end()) return false;
  }
  const bool is_object =
      text_of(schema, "type") == "object" || schema.find("properties") != nullptr;
  if (is_object && !is_closed_object(schema)) return false;
  const Json* const items = schema.find("items");
  return (items == nullptr || is_strict(*items, depth + 1)) &&
         are_strict(schema.find("properties"), depth + 1) &&
         are_strict(schema.find("anyOf"), depth + 1) && are_strict(schema.find("$defs"), depth + 1);
}

Error refused(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

}  // namespace

Result<Json> output_schema_of(std::string_view text) {
  auto schema = parse_json(text);
  if (!schema) return refused("the output schema is not JSON: " + schema.error().message);
  if (text_of(*schema, "type") != "object") {
    return refused(
        "the provider answers with objects only: the output schema needs the type "
        "object at its root");
  }
  return schema;
}

SchemaMode mode_of(const Json& schema) {
  return is_strict(schema, 0) && !schema.object().contains("anyOf") ? SchemaMode::strict
                                                                    : SchemaMode::loose;
}

AnswerShape answer_shape(const PhaseExecutionRequest& request, const WireOptions& options) {
  if (request.output_schema.empty()) return AnswerShape::any;
  return options.model.structured_output == ExecutorModelDescriptor::Support::yes
             ? AnswerShape::format
             : AnswerShape::words;
}

std::string instructions_of(const PhaseExecutionRequest& request, AnswerShape shape) {
  const bool blank = request.system_prompt.find_first_not_of(" \t\r\n\f\v") == std::string::npos;
  std::string text = blank ? std::string() : request.system_prompt;
  if (shape != AnswerShape::words) return text;
  if (!text.empty()) text += "\n\n";
  return text + "Your final answer is JSON, and nothing but JSON, that fits this JSON Schema:\n" +
         request.output_schema;
}

}  // namespace pawl::provider
