#include "pawl/adapter/provider/common/wire_schema.h"

#include <algorithm>
#include <array>

namespace pawl::provider {
namespace {

constexpr std::array<std::string_view, 14> kBounds = {
    "minimum",   "maximum",   "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems",         "maxItems",         "uniqueItems",
    "contains",  "pattern",   "minProperties",    "maxProperties"};
// Keywords whose value is a map of names to schemas, and those whose value is data.
constexpr std::array<std::string_view, 4> kMaps = {"properties", "$defs", "definitions",
                                                   "patternProperties"};
constexpr std::array<std::string_view, 5> kData = {"enum", "const", "default", "examples",
                                                   "required"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool describes_object(const JsonObject& schema) {
  const Json* type = schema.find("type");
  if (type != nullptr && type->is_string()) return type->string() == "object";
  return type == nullptr && schema.contains("properties");
}

// The depth is that of parsed JSON, which is bounded.
Json closed(const Json& schema) {
  if (const JsonArray* all = schema.if_array()) {
    JsonArray out;
    for (const Json& one : *all) out.push_back(closed(one));
    return out;
  }
  if (!schema.is_object()) return schema;
  JsonObject out;
  for (const JsonMember& member : schema.object().members()) {
    if (is_one_of(kBounds, member.key) || member.key == "additionalProperties") continue;
    if (is_one_of(kMaps, member.key) && member.value.is_object()) {
      JsonObject map;
      for (const JsonMember& entry : member.value.object().members()) {
        map.set(entry.key, closed(entry.value));
      }
      out.set(member.key, std::move(map));
    } else {
      out.set(member.key, is_one_of(kData, member.key) ? member.value : closed(member.value));
    }
  }
  if (describes_object(out)) out.set("additionalProperties", false);
  return out;
}

}  // namespace

Result<Json> tool_schema(const ToolSpec& tool) {
  auto schema = parse_json(tool.input_schema);
  if (!schema || !schema->is_object()) {
    return Error{ErrorCode::invalid_argument,
                 "the input schema of the tool " + tool.name + " is no JSON object"};
  }
  const Json* type = schema->find("type");
  if (type != nullptr && !(type->is_string() && type->string() == "object")) {
    return Error{ErrorCode::invalid_argument, "the input schema of the tool " + tool.name +
                                                  " does not describe an object, and providers "
                                                  "take nothing else"};
  }
  JsonObject whole;
  whole.set("type", "object");
  for (const JsonMember& member : schema->object().members()) {
    const bool chooses = member.key == "anyOf" || member.key == "oneOf" || member.key == "allOf";
    if (!chooses) whole.set(member.key, member.value);
  }
  if (!whole.contains("properties")) whole.set("properties", JsonObject());
  return Json(std::move(whole));
}

Result<Json> closed_schema(std::string_view output_schema) {
  const auto schema = parse_json(output_schema);
  if (!schema || !schema->is_object()) {
    return Error{ErrorCode::invalid_argument, "the output schema is no JSON object"};
  }
  return closed(*schema);
}

}  // namespace pawl::provider
