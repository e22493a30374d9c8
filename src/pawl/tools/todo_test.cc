#include "pawl/tools/todo.h"

#include <doctest/doctest.h>

#include "pawl/base/json.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

TEST_CASE("the list comes back as text and as it was") {
  const auto result = todo_result(
      R"({"items":[{"text":"one","status":"done"},{"text":"two","status":"in_progress"},)"
      R"({"text":"three","status":"pending"}]})");
  REQUIRE(result);
  const Json json = *parse_json(*result);
  CHECK(*json.find_string("output") == "[x] one\n[>] two\n[ ] three\n");
  CHECK(json.find("items")->array().size() == 3);
  CHECK(json.find("ok")->boolean());
  CHECK(*parse_json(*todo_result(R"({"items":[]})"))->find_string("output") ==
        "[nothing is to be done]\n");
}

TEST_CASE("what is no list is refused") {
  CHECK_FALSE(todo_result("{}"));
  CHECK_FALSE(todo_result("no json"));
  CHECK_FALSE(todo_result(R"({"items":[{"text":"one"}]})"));
  CHECK_FALSE(todo_result(R"({"items":[{"text":"one","status":"later"}]})"));
}

TEST_CASE("the tool answers later, once, and not when it was dropped") {
  TestLoop loop;
  ToolSpec spec;
  const auto tool = make_todo_tool(spec, loop);
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
