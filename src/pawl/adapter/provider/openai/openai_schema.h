// The shape of an answer, as it is asked for in OpenAI's dialects.
#pragma once

#include <string>
#include <string_view>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/json.h"

namespace pawl::provider {

// invalid_argument: it is not JSON, or the answer would be no object.
Result<Json> output_schema_of(std::string_view text);

// Whether the provider can hold the model to the schema: every object is closed and requires all of
// its properties, and nothing stands in it but what the provider knows.
enum class SchemaMode : std::uint8_t { loose, strict };
SchemaMode mode_of(const Json& schema);

// How the shape of the answer is asked for: by the format of the request, or in words.
enum class AnswerShape : std::uint8_t { any, format, words };
AnswerShape answer_shape(const PhaseExecutionRequest& request, const WireOptions& options);

// The system prompt, empty when it is blank, with the schema in words when the model takes it in no
// other way.
std::string instructions_of(const PhaseExecutionRequest& request, AnswerShape shape);

// What both dialects call the schema.
inline constexpr std::string_view kOutputSchemaName = "output";

}  // namespace pawl::provider
