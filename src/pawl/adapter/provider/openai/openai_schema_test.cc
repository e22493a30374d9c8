#include "pawl/adapter/provider/openai/openai_schema.h"

#include <doctest/doctest.h>

namespace pawl::provider {

TEST_CASE("what the provider can hold a model to") {
  const auto mode = [](const char* text) { return mode_of(parse_json(text).value()); };
  CHECK(mode(R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],)"
             R"("additionalProperties":false})") == SchemaMode::strict);
  CHECK(mode(R"({"type":"object","properties":{"a":{"type":"string"}},"required":[],)"
             R"("additionalProperties":false})") == SchemaMode::loose);
  CHECK(mode(R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})") ==
        SchemaMode::loose);
  CHECK(mode(R"({"type":"object","properties":{"a":{"type":"string","minLength":1}},)"
             R"("required":["a"],"additionalProperties":false})") == SchemaMode::loose);
  CHECK(mode(R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},)"
             R"("required":["a"],"additionalProperties":false})") == SchemaMode::loose);
}

TEST_CASE("the shape of an answer is an object's") {
  CHECK(output_schema_of(R"({"type":"object"})"));
  for (const char* wrong : {"[]", "nonsense", R"({"type":"array"})"})
    CHECK(!output_schema_of(wrong));
}

TEST_CASE("a schema that the model takes in no other way stands in the system prompt") {
  PhaseExecutionRequest request;
  WireOptions options;
  request.system_prompt = " \n";
  CHECK(answer_shape(request, options) == AnswerShape::any);
  CHECK(instructions_of(request, AnswerShape::any).empty());
  request.output_schema = R"({"type":"object"})";
  CHECK(answer_shape(request, options) == AnswerShape::words);
  CHECK(instructions_of(request, AnswerShape::words).ends_with(request.output_schema));
  options.model.structured_output = ExecutorModelDescriptor::Support::yes;
  CHECK(answer_shape(request, options) == AnswerShape::format);
}

}  // namespace pawl::provider
