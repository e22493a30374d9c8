// JSON Schemas as providers take them. Arguments and outputs are checked against the whole schema
// by Pawl itself, so what a provider cannot take may be left out.
#pragma once

#include <string>
#include <string_view>

#include "pawl/content.h"
#include "pawl/json.h"

namespace pawl::provider {

// A tool's input schema as an object schema: with "type":"object", and without anyOf, oneOf and
// allOf at its top. invalid_argument: it is no schema of an object, with the tool's name.
Result<Json> tool_schema(const ToolSpec& tool);

// An output schema as constrained decoding takes it: every object closed, bounds of numbers, texts
// and lists left out. invalid_argument: it is no JSON object.
Result<Json> closed_schema(std::string_view output_schema);

}  // namespace pawl::provider
