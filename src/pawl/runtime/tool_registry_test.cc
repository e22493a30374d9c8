#include "pawl/runtime/tool_registry.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

class NoTool : public Tool {
 public:
  explicit NoTool(ToolSpec spec) : spec_(std::move(spec)) {}
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation&,
                                    std::function<void(ToolOutcome)>) override {
    return nullptr;
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }

 private:
  ToolSpec spec_;
};

std::shared_ptr<Tool> tool_of(std::string name, std::string schema = "{}") {
  ToolSpec spec;
  spec.name = std::move(name);
  spec.input_schema = std::move(schema);
  return std::make_shared<NoTool>(spec);
}

TEST_CASE("arguments that do not fit the schema are faults that name the path") {
  const auto registry = ToolRegistry::make({tool_of(
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
  CHECK(!ToolRegistry::make({tool_of("a"), tool_of("a")}));
  CHECK(!ToolRegistry::make({tool_of("")}));
  CHECK(!ToolRegistry::make({tool_of("a b")}));
  CHECK(!ToolRegistry::make({tool_of("a", R"({"type":"nonsense"})")}));
  CHECK(!ToolRegistry::make({tool_of("a", "{")}));
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
