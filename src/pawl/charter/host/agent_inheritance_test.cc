#include "pawl/charter/host/agent_inheritance.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/json.h"

namespace pawl {
namespace {

const DocumentParser kParser = [](std::string_view text) { return parse_yaml(text); };

Node node_of(const std::string& text) {
  auto parsed = parse_yaml(text);
  REQUIRE(parsed.root);
  return *parsed.root;
}

const std::string kParent =
    "name: p\nmodel: a/b\ninstructions: x\n"
    "tools: { allow: [view, bash] }\n"
    "sandbox: { write: [out], network: none }\n"
    "permissions: { grant: [fs_read] }\n";

TEST_CASE("M27: what a child leaves out is its parent's, with the parent's paths") {
  const Node parent = node_of(kParent);
  const Node child = node_of("name: c\npermissions: { grant: [] }\n");
  CHECK(to_json(with_parents_sections({parent, "/p"}, {child, "/p/sub"})) ==
        R"({"name":"c","permissions":{"grant":[]},)"
        R"("sandbox":{"write":["/p/out"],"network":"none","directory":"/p"}})");
  CHECK(to_json(with_parents_sections({parent, "/p"}, {child, "/p"})) ==
        R"({"name":"c","permissions":{"grant":[]},"sandbox":{"write":["out"],"network":"none"}})");
}

TEST_CASE("M27: an agent that a model asks for has the parent's tools or fewer, and its sections") {
  const Node parent = node_of(kParent);
  const auto asked = [&](const std::string& said) {
    return charter_asked_for({parent, "/p"}, kParser, said);
  };
  const auto fewer = asked(R"({"instructions":"do","tools":["view"]})");
  REQUIRE_MESSAGE(fewer, fewer.error().message);
  const Node charter = node_of(*fewer);
  CHECK(to_json(*charter.find("tools")) == R"({"allow":["view"]})");
  CHECK(to_json(*charter.find("sandbox")) == R"({"write":["out"],"network":"none"})");
  CHECK(charter.find("model")->text() == "a/b");
  CHECK(asked(R"({"instructions":"do"})"));

  const auto more = asked(R"({"instructions":"do","tools":["glob"]})");
  REQUIRE_FALSE(more);
  CHECK(more.error().code == ErrorCode::invalid_argument);
  CHECK(more.error().message == "agents.asked_for: the tool \"glob\" is not in tools.allow");
  CHECK(asked(R"({"instructions":"do","tools":["nothing"]})")
            .error()
            .message.find("there is no tool") != std::string::npos);
}

TEST_CASE("M27: a tool of Pawl's that the parent does not have is none of an agent's either") {
  const Node parent = node_of("name: p\nmodel: a/b\ninstructions: x\n");
  const auto more =
      charter_asked_for({parent, "/p"}, kParser, R"({"instructions":"do","tools":["bash"]})");
  REQUIRE_FALSE(more);
  CHECK(more.error().message == "its charter has the tool \"bash\", and this one has not");
}

}  // namespace
}  // namespace pawl
