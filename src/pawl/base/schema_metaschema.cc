#include <string>

#include "pawl/base/schema_index.h"

namespace pawl::schema {
namespace {

// Both texts say which type each keyword has, and no more: no titles, no defaults, no split into
// vocabularies. What differs between the drafts is put in at the marks.
constexpr std::string_view kShared = R"(
  "count": {"type": "integer", "minimum": 0},
  "names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
  "schemas": {"type": "array", "items": SELF, "minItems": 1},
  "schemaMap": {"type": "object", "additionalProperties": SELF},
  "type": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
},
"properties": {
  "$id": {"type": "string"},
  "$schema": {"type": "string"},
  "$ref": {"type": "string"},
  "$comment": {"type": "string"},
  "title": {"type": "string"},
  "description": {"type": "string"},
  "default": true,
  "examples": {"type": "array"},
  "readOnly": {"type": "boolean"},
  "writeOnly": {"type": "boolean"},
  "type": {"anyOf": [{"$ref": "#/DEFS/type"},
                     {"type": "array", "items": {"$ref": "#/DEFS/type"}, "minItems": 1,
                      "uniqueItems": true}]},
  "const": true,
  "enum": {"type": "array"},
  "multipleOf": {"type": "number", "exclusiveMinimum": 0},
  "maximum": {"type": "number"},
  "exclusiveMaximum": {"type": "number"},
  "minimum": {"type": "number"},
  "exclusiveMinimum": {"type": "number"},
  "maxLength": {"$ref": "#/DEFS/count"},
  "minLength": {"$ref": "#/DEFS/count"},
  "pattern": {"type": "string", "format": "regex"},
  "format": {"type": "string"},
  "contentMediaType": {"type": "string"},
  "contentEncoding": {"type": "string"},
  "maxItems": {"$ref": "#/DEFS/count"},
  "minItems": {"$ref": "#/DEFS/count"},
  "uniqueItems": {"type": "boolean"},
  "contains": SELF,
  "maxProperties": {"$ref": "#/DEFS/count"},
  "minProperties": {"$ref": "#/DEFS/count"},
  "required": {"$ref": "#/DEFS/names"},
  "properties": {"$ref": "#/DEFS/schemaMap"},
  "patternProperties": {"$ref": "#/DEFS/schemaMap", "propertyNames": {"format": "regex"}},
  "additionalProperties": SELF,
  "propertyNames": SELF,
  "dependencies": {"type": "object",
                   "additionalProperties": {"anyOf": [SELF, {"$ref": "#/DEFS/names"}]}},
  "definitions": {"$ref": "#/DEFS/schemaMap"},
  "if": SELF,
  "then": SELF,
  "else": SELF,
  "allOf": {"$ref": "#/DEFS/schemas"},
  "anyOf": {"$ref": "#/DEFS/schemas"},
  "oneOf": {"$ref": "#/DEFS/schemas"},
  "not": SELF,
)";

constexpr std::string_view kDraft7Head = R"({
"$schema": "http://json-schema.org/draft-07/schema#",
"$id": "http://json-schema.org/draft-07/schema#",
"type": ["object", "boolean"],
"definitions": {)";
constexpr std::string_view kDraft7Tail = R"(
  "items": {"anyOf": [SELF, {"$ref": "#/DEFS/schemas"}]},
  "additionalItems": SELF
}})";

constexpr std::string_view kDraft2020Head = R"({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "https://json-schema.org/draft/2020-12/schema",
"$dynamicAnchor": "meta",
"type": ["object", "boolean"],
"$defs": {)";
constexpr std::string_view kDraft2020Tail = R"(
  "$anchor": {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"},
  "$dynamicAnchor": {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"},
  "$dynamicRef": {"type": "string"},
  "$vocabulary": {"type": "object", "additionalProperties": {"type": "boolean"}},
  "$defs": {"$ref": "#/DEFS/schemaMap"},
  "deprecated": {"type": "boolean"},
  "prefixItems": {"$ref": "#/DEFS/schemas"},
  "items": SELF,
  "maxContains": {"$ref": "#/DEFS/count"},
  "minContains": {"$ref": "#/DEFS/count"},
  "dependentRequired": {"type": "object", "additionalProperties": {"$ref": "#/DEFS/names"}},
  "dependentSchemas": {"$ref": "#/DEFS/schemaMap"},
  "contentSchema": SELF,
  "unevaluatedItems": SELF,
  "unevaluatedProperties": SELF
}})";

void replace_all(std::string& text, std::string_view mark, std::string_view value) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    text.replace(at, mark.size(), value);
  }
}

Json metaschema(std::string_view head, std::string_view tail, std::string_view self,
                std::string_view definitions) {
  std::string text = std::string(head) + std::string(kShared) + std::string(tail);
  replace_all(text, "SELF", self);
  replace_all(text, "DEFS", definitions);
  auto json = parse_json(text);
  PAWL_ASSERT(json.has_value());
  return *std::move(json);
}

}  // namespace

const Json* find_metaschema(std::string_view uri) {
  static const Json draft7 =
      metaschema(kDraft7Head, kDraft7Tail, R"({"$ref": "#"})", "definitions");
  static const Json draft2020 =
      metaschema(kDraft2020Head, kDraft2020Tail, R"({"$dynamicRef": "#meta"})", "$defs");
  if (uri == "http://json-schema.org/draft-07/schema") return &draft7;
  if (uri == "https://json-schema.org/draft/2020-12/schema") return &draft2020;
  return nullptr;
}

}  // namespace pawl::schema
