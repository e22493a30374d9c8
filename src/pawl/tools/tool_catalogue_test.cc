#include "pawl/tools/tool_catalogue.h"

#include <doctest/doctest.h>

#include "pawl/base/schema.h"
#include "pawl/json.h"

namespace pawl {
namespace {

std::vector<std::string> names(const Result<std::vector<ToolDescription>>& definitions) {
  std::vector<std::string> found;
  REQUIRE(definitions);
  for (const ToolDescription& tool : *definitions) found.push_back(tool.spec.name);
  return found;
}

TEST_CASE("every tool has a schema that compiles, and the effect that its deeds ask for") {
  const auto all = common_definitions();
  CHECK(names(all) == std::vector<std::string>{"exec", "bash", "view", "create_file", "str_replace",
                                               "grep", "glob", "apply_patch", "todo", "ask_user",
                                               "read_output"});
  for (const ToolDescription& tool : *all) {
    const auto schema = parse_json(tool.spec.input_schema);
    REQUIRE_MESSAGE(schema, tool.spec.name);
    CHECK(Schema::compile(*schema));
    CHECK(tool.spec.input_schema == write_json(*schema));  // compact, on one line
    const bool acts = tool.needs.fs_write || tool.needs.subprocess || tool.needs.person;
    CHECK((tool.spec.effect == EffectClass::once) == acts);
    CHECK((tool.spec.on_doubt == OnDoubt::wait) == tool.needs.person);
    CHECK_FALSE(tool.spec.description.empty());
  }
}

TEST_CASE("no tool takes a directory to work in, so none can widen its root (F15)") {
  const char* const inputs[] = {
      R"({"argv":["ls"],"DIRECTORY":"/"})", R"({"command":"ls","DIRECTORY":"/"})",
      R"({"path":"x","DIRECTORY":".."})", R"({"path":"x","file_text":"y","DIRECTORY":"/"})",
      R"({"path":"x","old_str":"y","DIRECTORY":"/"})"};
  for (const char* word : {"cwd", "directory", "workdir", "root"}) {
    std::size_t tool = 0;
    for (const std::string input : inputs) {
      const auto all = common_definitions();
      const auto schema = Schema::compile(*parse_json((*all)[tool++].spec.input_schema));
      std::string asked = input;
      asked.replace(asked.find("DIRECTORY"), std::string_view("DIRECTORY").size(), word);
      CAPTURE(asked);
      CHECK_FALSE(schema->validate(*parse_json(asked)).empty());
      asked.erase(asked.find(R"(,")" + std::string(word)));
      CHECK(schema->validate(*parse_json(asked + "}")).empty());  // but for that
    }
  }
}

TEST_CASE("definitions can be narrowed; an empty list is none and a wrong name is an error") {
  const std::vector<std::string> two{"view", "bash"};
  CHECK(names(common_definitions({}, two)) == std::vector<std::string>{"bash", "view"});
  CHECK(names(common_definitions({}, two, {"bash"})) == std::vector<std::string>{"view"});
  CHECK(names(common_definitions({}, std::vector<std::string>{})).empty());
  const auto wrong = common_definitions({}, std::nullopt, {"rm"});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("no common tool is named rm; there are exec bash") !=
        std::string::npos);
}

TEST_CASE("bash may be named bash_tool, and times and bounds are the host's") {
  CommonToolOptions options;
  options.bash_name = "bash_tool";
  options.command_time_ms = 1000;
  options.file_time_ms = 2000;
  options.output_bytes_max = 3000;

  CHECK(describe_common_tool("bash_tool", options)->spec.timeout_ms == 1000);
  CHECK(describe_common_tool("view", options)->spec.timeout_ms == 2000);
  CHECK(describe_common_tool("view", options)->spec.output_bytes_max == 3000);
  CHECK_FALSE(describe_common_tool("bash", options));
}

}  // namespace
}  // namespace pawl
