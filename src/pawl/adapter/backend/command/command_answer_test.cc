#include "pawl/adapter/backend/command/command_answer.h"

#include "pawl/adapter/backend/command/command_test_support.h"
#include "pawl/base/utf8.h"

namespace pawl::tool_command {
namespace {

using StatusKind = ToolStatus::Kind;

template <class How>
CommandEnd ended(How how, const std::string& output = "", const std::string& errors = "") {
  CommandEnd end{std::move(how),
                 OutputCapture(kStatusOutputBytesMax),
                 OutputCapture(kErrorOutputBytesMax),
                 {}};
  end.output.append(output);
  end.errors.append(errors);
  return end;
}

ToolStatus status_from(const std::string& printed) {
  return status_of(ended(Exited{0}, printed), ToolSpec());
}

TEST_CASE("a status command's answer is read strictly") {
  struct Row {
    const char* printed;
    StatusKind kind;
    const char* content;
  };
  for (const Row& row : {
           Row{R"({"outcome": "done", "result": "paid"})", StatusKind::done, "paid"},
           Row{" {\"outcome\":\"done\"}\n", StatusKind::done, ""},
           Row{R"({"result": {"b": 1.50, "a": [ ]}, "outcome": "done"})", StatusKind::done,
               R"({"b":1.50,"a":[]})"},
           Row{R"({"outcome": "done", "result": null})", StatusKind::done, "null"},
           Row{R"({"outcome": "absent"})", StatusKind::absent, ""},
           Row{R"({"outcome": "unknown", "result": "bank is down"})", StatusKind::unknown,
               "bank is down"},
       }) {
    const ToolStatus status = status_from(row.printed);
    CHECK_MESSAGE(status.kind == row.kind, row.printed);
    CHECK(status.content == row.content);
  }
}

TEST_CASE("any other answer of a status command is unknown, and says why") {
  for (const char* printed :
       {"", "done", "{}", "[]", "\"done\"", R"({"outcome": "Done"})", R"({"outcome": true})",
        R"({"outcome": "done", "extra": 1})", R"({"outcome": "done"} {})",
        R"({"outcome": "done", "outcome": "absent"})",
        "{\"outcome\": \"done\", \"result\": \"\xFF\"}", R"({"outcome": "done",})",
        R"({"result": "paid"})"}) {
    const ToolStatus status = status_from(printed);
    CHECK_MESSAGE(status.kind == StatusKind::unknown, printed);
    CHECK_MESSAGE(!status.content.empty(), printed);
  }
}

TEST_CASE("a status command that fails or prints too much is unknown") {
  const std::string done = R"({"outcome": "done"})";
  const ToolSpec spec;

  const ToolStatus failed = status_of(ended(Exited{1}, done, "no network"), spec);
  CHECK(failed.kind == StatusKind::unknown);
  CHECK(contains(failed.content, "exit code 1"));
  CHECK(contains(failed.content, "no network"));
  CHECK(status_of(ended(TimedOut{}, done), spec).kind == StatusKind::unknown);
  CHECK(status_of(ended(Signalled{9}, done), spec).kind == StatusKind::unknown);
  CHECK(status_of(ended(NotStarted{"why"}), spec).kind == StatusKind::unknown);
  CommandEnd flood{Exited{0}, OutputCapture(5), OutputCapture(5), {}};
  flood.output.append(done);
  CHECK(status_of(flood, spec).kind == StatusKind::unknown);
}

TEST_CASE("a long result is cut to the tool's bound") {
  ToolSpec spec;
  spec.output_bytes_max = 300;
  const std::string printed = R"({"outcome": "done", "result": ")" + std::string(5000, 'x') + "\"}";

  const ToolStatus status = status_of(ended(Exited{0}, printed), spec);

  CHECK(status.kind == StatusKind::done);
  CHECK(status.content.size() <= 300);
  CHECK(contains(status.content, "bytes cut"));
}

TEST_CASE("a failure keeps within the bound, and its errors are shown first of all") {
  std::string errors(40'000, 'e');
  errors += "last";
  for (const std::size_t bound : {0U, 10U, 60U, 100U, 200U, 1000U, 50'000U}) {
    ToolSpec spec;
    spec.output_bytes_max = bound;

    const ToolOutcome outcome =
        outcome_of(ended(Exited{3}, std::string(90'000, '\xFF'), errors), spec);

    CHECK(outcome.kind == ToolOutcome::Kind::failed);
    CHECK(outcome.content.size() <= bound);
    CHECK(is_valid_utf8(outcome.content));
    CHECK(outcome.content_length > outcome.content.size());
    if (bound >= 1000) CHECK(outcome.content.ends_with("last"));
    if (bound >= 60) CHECK(outcome.content.starts_with("The command failed with exit code 3."));
  }
}

TEST_CASE("an end that nobody can know is not called a failure") {
  const ToolSpec spec;

  CHECK(outcome_of(ended(Lost{"x"}), spec).kind == ToolOutcome::Kind::aborted);
  CHECK(outcome_of(ended(NeverAllowed{}), spec).kind == ToolOutcome::Kind::aborted);
  CommandEnd stuck = ended(Stopped{});
  stuck.survivors = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(
      contains(outcome_of(stuck, spec).content, "could not be killed: 1 2 3 4 5 6 7 8 and more."));
}

TEST_CASE("a status command gets the key, the arguments and the timeout of its tool") {
  CommandBench bench;
  CommandSpec spec = script("exit 1");
  spec.tool.effect = EffectClass::reconcilable;
  spec.status_command = {"sh", "-c",
                         R"(printf '{"outcome": "done", "result": "%s %s"}' $PAWL_KEY $(cat))"};

  const ToolStatus answered = bench.ask(spec, invocation_of("[1]"));
  CHECK(answered.kind == StatusKind::done);
  CHECK(answered.content == "00ff7 [1]");

  spec.status_command = {"sleep", "600"};
  spec.tool.timeout_ms = 300;
  CHECK(contains(bench.ask(spec).content, "timeout of 300 ms"));
  spec.tool.timeout_ms = 30'000;
  spec.status_command = {};
  CHECK(bench.ask(spec).kind == StatusKind::unknown);
  spec.status_command = {"printf", R"({"outcome": "done"})"};
  spec.tool.effect = EffectClass::once;
  CHECK(contains(bench.ask(spec).content, "not reconcilable"));
}

}  // namespace
}  // namespace pawl::tool_command
