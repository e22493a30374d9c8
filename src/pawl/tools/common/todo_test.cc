#include <doctest/doctest.h>

#include "pawl/json.h"
#include "pawl/tools/common/common_tool.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

ToolOutcome result_of(const std::string& input) {
  TestLoop loop;
  const auto tool = todo_tool().make(describe_common_tool("todo")->spec, loop);
  ToolInvocation invocation;
  invocation.input = input;
  ToolOutcome result;
  const auto operation =
      tool->invoke(invocation, [&result](ToolOutcome outcome) { result = std::move(outcome); });
  loop.run_posted();
  return result;
}

TEST_CASE("the list comes back as text and as it was") {
  const ToolOutcome result =
      result_of(R"({"items":[{"text":"one","status":"done"},{"text":"two","status":"in_progress"},)"
                R"({"text":"three","status":"pending"}]})");
  CHECK(result.kind == ToolOutcome::Kind::succeeded);
  const Json json = *parse_json(result.content);
  CHECK(*json.find_string("output") == "[x] one\n[>] two\n[ ] three\n");
  CHECK(json.find("items")->array().size() == 3);
  CHECK(json.find("ok")->boolean());
  CHECK(*parse_json(result_of(R"({"items":[]})").content)->find_string("output") ==
        "[nothing is to be done]\n");
}

TEST_CASE("what is no list is refused") {
  const auto fails = [](const std::string& input) {
    return result_of(input).kind == ToolOutcome::Kind::failed;
  };
  CHECK(fails("{}"));
  CHECK(fails("no json"));
  CHECK(fails(R"({"items":[{"text":"one"}]})"));
  CHECK(fails(R"({"items":[{"text":"one","status":"later"}]})"));
}

TEST_CASE("the tool answers later, once, and not when it was dropped") {
  TestLoop loop;
  const ToolSpec spec;
  const auto tool = todo_tool().make(spec, loop);
  ToolInvocation invocation;
  invocation.input = R"({"items":[]})";
  int answers = 0;
  const auto count = [&answers](const ToolOutcome& outcome) {
    ++answers;
    CHECK(outcome.kind == ToolOutcome::Kind::succeeded);
  };

  auto operation = tool->invoke(invocation, count);
  CHECK(answers == 0);
  operation->abort();
  loop.run_posted();
  CHECK(answers == 1);
  operation = tool->invoke(invocation, count);
  operation.reset();
  loop.run_posted();
  CHECK(answers == 1);
}

}  // namespace
}  // namespace pawl
