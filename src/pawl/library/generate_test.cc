#include "pawl/runner.h"

#include <doctest/doctest.h>

#include "pawl/testing/executor_scripted/executor_scripted.h"

namespace pawl {
namespace {

struct Sum {
  std::int64_t value = 0;

  static std::string json_schema() {
    return R"({"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}})";
  }
  static Result<Sum> from_json(const Json& json) { return Sum{*json.find("sum")->as_int64()}; }
};

RunnableAgent answering(Runner& runner, std::vector<ScriptReply> replies) {
  Script script;
  script.replies = std::move(replies);
  RunnableAgent agent;
  agent.charter.name = "adder";
  agent.charter.instructions = "Add.";
  agent.executor = runner.scripted(std::move(script));
  return agent;
}

TEST_CASE("an answer becomes a value, after repairs") {
  Runner runner;
  const auto sum = generate_with<Sum>(
      runner,
      answering(runner, {ScriptReply::say("four"), ScriptReply::say(R"({"sum":"4"})"),
                         ScriptReply::say(R"({"sum":4})")}),
      "2+2");
  REQUIRE(sum);
  CHECK(sum->value == 4);
}

TEST_CASE("what cannot be repaired is an error that says what was wrong") {
  Runner runner;
  const auto sum = generate_with<Sum>(
      runner,
      answering(runner, {ScriptReply::say("four"), ScriptReply::say("vier"),
                         ScriptReply::say("quatre"), ScriptReply::say(R"({"sum":4})")}),
      "2+2");
  REQUIRE_FALSE(sum);
  CHECK(sum.error().message.find("schema") != std::string::npos);
}

}  // namespace
}  // namespace pawl
