#include "pawl/tools/tool_registry.h"

#include <doctest/doctest.h>

#include "pawl/testing/stage/silent_tool_test.h"

namespace pawl {
namespace {

TEST_CASE("arguments that do not fit the schema are faults that name the path") {
  const auto registry = ToolRegistry::make({silent_tool(
      "charge",
      R"({"type":"object","required":["amount"],"properties":{"amount":{"type":"integer"}}})")});
  REQUIRE(registry);

  CHECK(registry->fault_of("charge", R"({"amount":1})").empty());
  CHECK(registry->fault_of("charge", R"({"amount":"x"})").find("/amount") == 0);
  CHECK(registry->fault_of("charge", "{").find("not valid JSON") == 0);
  CHECK(registry->fault_of("charge", R"({"amount":1,"amount":2})").find("not valid JSON") == 0);
  CHECK(registry->fault_of("other", "{").empty());
}

TEST_CASE("duplicate names, bad names and bad schemas are refused") {
  CHECK(!ToolRegistry::make({silent_tool("a"), silent_tool("a")}));
  CHECK(!ToolRegistry::make({silent_tool("")}));
  CHECK(!ToolRegistry::make({silent_tool("a b")}));
  CHECK(!ToolRegistry::make({silent_tool("a", R"({"type":"nonsense"})")}));
  CHECK(!ToolRegistry::make({silent_tool("a", "{")}));
}

TEST_CASE("a changed definition has another digest") {
  ToolSpec spec;
  spec.name = "a";
  ToolSpec other = spec;
  other.input_schema = R"({"type":"object"})";
  ToolSpec weaker = spec;
  weaker.effect = EffectClass::pure;

  CHECK(definition_digest(spec) == definition_digest(spec));
  CHECK(definition_digest(spec) != definition_digest(other));
  CHECK(definition_digest(spec) != definition_digest(weaker));
}

}  // namespace
}  // namespace pawl
