#include "pawl/tools/common_tools.h"

#include <doctest/doctest.h>

#include <fstream>
#include <stdexcept>

#include "pawl/base/digest_name.h"
#include "pawl/json.h"
#include "pawl/tools/files_session_test.h"
#include "pawl/tools/tool_registry.h"

namespace pawl {
namespace {

struct Stage {
  TestLoop loop;
  std::shared_ptr<FilesSession> session = std::make_shared<FilesSession>(loop);
  int sessions_asked = 0;
  int callbacks = 0;
  ToolOutcome outcome;
  std::unique_ptr<Operation> operation;

  BackendSessions sessions() {
    return [this](const ToolInvocation&, auto answer) {
      ++sessions_asked;
      answer(std::shared_ptr<BackendSession>(session));
    };
  }
  std::shared_ptr<Tool> tool(const std::string& name, BackendSessions from) {
    auto made = make_common_tool(*describe_common_tool(name), loop, std::move(from));
    REQUIRE(made);
    return *made;
  }
  void begin(Tool& tool, const std::string& input) {
    callbacks = 0;
    ToolInvocation invocation;
    invocation.run = RunId{"r"};
    invocation.input = input;
    operation = tool.invoke(invocation, [this](ToolOutcome value) {
      ++callbacks;
      outcome = std::move(value);
      operation.reset();  // as a driver does
    });
    CHECK(callbacks == 0);
  }
  Json call(const std::string& name, const std::string& input) {
    const auto called = tool(name, sessions());
    begin(*called, input);
    loop.run_posted();
    REQUIRE(callbacks == 1);
    auto content = parse_json(outcome.content);
    REQUIRE(content);
    return *content;
  }
  std::string output(const std::string& name, const std::string& input) {
    return *call(name, input).find_string("output");
  }
};

TEST_CASE("files are made, viewed, edited, found and patched through the tools") {
  Stage stage;

  const Json made =
      stage.call("create_file", R"({"path":"d/a.txt","file_text":"one\ntwo\n","description":"x"})");
  CHECK(made.find("ok")->boolean());
  CHECK(*made.find("files")->array().at(0).find_string("path") == "d/a.txt");
  CHECK(*made.find("files")->array().at(0).find_string("sha256") == to_hex(sha256("one\ntwo\n")));
  CHECK(stage.output("view", R"({"path":"d/a.txt","view_range":[2,-1]})") == "     2\ttwo\n");
  stage.call("str_replace", R"({"path":"d/a.txt","old_str":"one\n"})");
  CHECK(stage.output("view", R"({"path":"d/a.txt"})") == "     1\ttwo\n");
  CHECK(stage.output("grep", R"({"pattern":"TW","ignore_case":true})") == "d/a.txt:1:two\n");
  CHECK(stage.output("glob", R"({"pattern":"**/*.txt"})") == "d/a.txt\n");
  CHECK(stage.output("apply_patch",
                     R"({"patch":"--- a/d/a.txt\n+++ b/d/a.txt\n@@ -1 +1 @@\n-two\n+2\n"})") ==
        "M d/a.txt\n");
  const std::string kept = digest_name("output-", sha256("kept"));
  std::ofstream(stage.session->artifact(kept)) << "kept";
  CHECK(stage.output("read_output", R"({"artifact":")" + kept + R"(","offset":1,"length":2})") ==
        "ep\n[bytes 1 to 3 of 4; go on with offset 3]");
}

TEST_CASE("a failure is known, and says what to do") {
  Stage stage;

  const Json refused = stage.call("view", R"({"path":"/etc/passwd"})");

  CHECK(stage.outcome.kind == ToolOutcome::Kind::failed);
  CHECK_FALSE(refused.find("ok")->boolean());
  CHECK(refused.find_string("output")->find("outside the roots") != std::string::npos);
}

TEST_CASE("commands carry their time, at most the tool's own, and come back with code and level") {
  Stage stage;
  stage.session->next.kind = BackendOutcome::Kind::failed;
  stage.session->next.exit_code = 3;
  stage.session->next.output = "oops";
  stage.session->next.output_length = 4;
  stage.session->next.level = IsolationLevel::namespaces;

  const Json result = stage.call("bash", R"({"command":"false","timeout":99999999})");

  CHECK(write_json(result) ==
        R"({"ok":false,"exit_code":3,"output":"oops","files":[],"level":"namespace"})");
  CHECK(stage.session->commands.at(0).command == "false");
  CHECK(stage.session->commands.at(0).time_ms == kToolTimeoutDefaultMs);
  stage.call("exec", R"({"argv":["ls","-l"],"input":"in","timeout":5})");
  CHECK(stage.session->commands.at(1).argv == std::vector<std::string>{"ls", "-l"});
  CHECK(stage.session->commands.at(1).input == "in");
  CHECK(stage.session->commands.at(1).time_ms == 5);
}

TEST_CASE("a command that is stopped answers once, when its session says that nothing is left") {
  Stage stage;
  stage.session->behaviour = FilesSession::Commands::hang;
  const auto bash = stage.tool("bash", stage.sessions());

  stage.begin(*bash, R"({"command":"sleep 600"})");
  stage.loop.run_posted();
  stage.operation->abort();
  CHECK(stage.callbacks == 0);
  stage.loop.run_posted();
  CHECK(stage.callbacks == 1);
  CHECK(stage.outcome.kind == ToolOutcome::Kind::aborted);

  stage.begin(*bash, R"({"command":"sleep 600"})");
  stage.loop.advance(kToolTimeoutDefaultMs + 60'000);
  CHECK(stage.callbacks == 1);
  CHECK(stage.outcome.kind == ToolOutcome::Kind::timed_out);
  CHECK(stage.session->aborts == 2);
}

TEST_CASE("a call that is destroyed hears nothing, whatever it waited for") {
  Stage stage;
  stage.session->behaviour = FilesSession::Commands::hang;
  std::function<void(Result<std::shared_ptr<BackendSession>>)> waiting;
  const auto late =
      stage.tool("bash", [&waiting](const ToolInvocation&, auto answer) { waiting = answer; });

  stage.begin(*late, R"({"command":"x"})");
  stage.operation.reset();
  waiting(std::shared_ptr<BackendSession>(stage.session));
  stage.loop.advance(600'000);
  CHECK(stage.session->commands.empty());

  const auto bash = stage.tool("bash", stage.sessions());
  stage.begin(*bash, R"({"command":"x"})");
  stage.operation.reset();
  stage.loop.advance(600'000);
  CHECK(stage.callbacks == 0);
}

TEST_CASE(
    "a session that never comes, is refused, throws, or has no such tool is a known failure") {
  Stage stage;
  std::function<void(Result<std::shared_ptr<BackendSession>>)> waiting;
  const auto never =
      stage.tool("view", [&waiting](const ToolInvocation&, auto answer) { waiting = answer; });
  stage.begin(*never, R"({"path":"x"})");
  stage.loop.advance(600'000);
  CHECK(stage.callbacks == 1);
  CHECK(stage.outcome.kind == ToolOutcome::Kind::failed);
  CHECK(stage.outcome.content.find("not ready") != std::string::npos);
  waiting(std::shared_ptr<BackendSession>(stage.session));  // too late
  stage.loop.run_posted();
  CHECK(stage.callbacks == 1);

  const auto refused = stage.tool("view", [](const ToolInvocation&, auto answer) {
    answer(Error{ErrorCode::unavailable, "no user namespaces"});
  });
  stage.begin(*refused, R"({"path":"x"})");
  stage.loop.run_posted();
  CHECK(stage.outcome.content == R"({"ok":false,"output":"no user namespaces","files":[]})");

  const auto throwing = stage.tool(
      "view", [](const ToolInvocation&, auto) { throw std::runtime_error("broken host"); });
  stage.begin(*throwing, R"({"path":"x"})");
  stage.loop.run_posted();
  CHECK(stage.outcome.content.find("broken host") != std::string::npos);

  stage.session->has_file_requests = false;
  CHECK(stage.output("grep", R"({"pattern":"x"})") == "this run's backend has no grep");
  CHECK(stage.outcome.kind == ToolOutcome::Kind::failed);
}

TEST_CASE("an abort while the session is awaited is an answer, too") {
  Stage stage;
  const auto never = stage.tool("bash", [](const ToolInvocation&, auto) {});
  stage.begin(*never, R"({"command":"x"})");

  stage.operation->abort();
  CHECK(stage.callbacks == 0);
  stage.operation->abort();
  stage.loop.run_posted();

  CHECK(stage.callbacks == 1);
  CHECK(stage.outcome.kind == ToolOutcome::Kind::aborted);
}

TEST_CASE("all common tools but ask_user can be made, and a registry takes them") {
  Stage stage;
  const auto definitions = common_definitions();
  REQUIRE(definitions);

  const auto tools = make_common_tools(*definitions, stage.loop, stage.sessions());

  CHECK(tools.size() == definitions->size() - 1);
  const auto registry = ToolRegistry::make(tools);
  REQUIRE_MESSAGE(registry, registry.error().message);
  CHECK(registry->fault_of("view", R"({"path":"x","view_range":[1,2]})").empty());
  CHECK_FALSE(registry->fault_of("view", R"({"path":"x","view_range":[1]})").empty());
  CHECK_FALSE(registry->fault_of("exec", R"({"argv":[]})").empty());
  CHECK_FALSE(make_common_tool(*describe_common_tool("ask_user"), stage.loop, stage.sessions()));
  CHECK(stage.sessions_asked == 0);
}

TEST_CASE("status says that nothing is known") {
  Stage stage;
  for (const char* name : {"bash", "todo"}) {
    const auto tool = stage.tool(name, stage.sessions());
    std::optional<ToolStatus> status;
    const auto operation =
        tool->status(ToolInvocation{}, [&status](ToolStatus value) { status = std::move(value); });
    CHECK_FALSE(status);
    stage.loop.run_posted();
    REQUIRE(status);
    CHECK(status->kind == ToolStatus::Kind::unknown);
  }
}

}  // namespace
}  // namespace pawl
