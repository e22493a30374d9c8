#include "pawl/adapter/provider/common/wire_schema.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

std::string of_tool(const std::string& schema) {
  ToolSpec tool;
  tool.name = "look";
  tool.input_schema = schema;
  const auto written = tool_schema(tool);
  return written ? write_json(*written) : written.error().message;
}

TEST_CASE("the schema of a tool describes an object and chooses nothing at its top") {
  CHECK(of_tool("{}") == R"({"type":"object","properties":{}})");
  CHECK(of_tool(R"({"properties":{"a":{"anyOf":[{},{}]}},"anyOf":[{}],"required":["a"]})") ==
        R"({"type":"object","properties":{"a":{"anyOf":[{},{}]}},"required":["a"]})");
  CHECK(of_tool("[]") == "the input schema of the tool look is no JSON object");
  CHECK(of_tool("x") == "the input schema of the tool look is no JSON object");
  CHECK(of_tool(R"({"type":"string"})").find("does not describe an object") != std::string::npos);
}

TEST_CASE("the schema of an output is closed, without bounds; data in it is left alone") {
  const auto closed = closed_schema(
      R"({"type":"object","properties":{"minimum":{"type":"integer","minimum":1},)"
      R"("list":{"type":"array","minItems":2,"items":{"properties":{"a":{"pattern":"x"}}}},)"
      R"("c":{"const":{"minimum":3,"type":"object"}}},"additionalProperties":{"type":"string"},)"
      R"("$defs":{"d":{"type":"object"}}})");
  REQUIRE(closed);
  CHECK(write_json(*closed) ==
        R"({"type":"object","properties":{"minimum":{"type":"integer"},)"
        R"("list":{"type":"array","items":{"properties":{"a":{}},"additionalProperties":false}},)"
        R"("c":{"const":{"minimum":3,"type":"object"}}},)"
        R"("$defs":{"d":{"type":"object","additionalProperties":false}},)"
        R"("additionalProperties":false})");
  CHECK_FALSE(closed_schema("[]"));
  CHECK_FALSE(closed_schema("{"));
}

}  // namespace
}  // namespace pawl::provider
