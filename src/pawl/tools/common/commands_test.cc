#include "pawl/tools/common/tool_input_test.h"

namespace pawl {
namespace {

TEST_CASE("a command that runs without a question has a shell of its own") {
  ToolDescription bash = *describe_common_tool("bash");
  bash.shell_start = [](std::string_view input) {
    return input.find("cd") == std::string_view::npos ? ShellStart::unasked : ShellStart::session;
  };
  const auto fresh = read_request(bash, R"({"command":"ls","timeout":5})");
  REQUIRE(fresh);
  REQUIRE(std::holds_alternative<ExecRequest>(*fresh));
  const ShellCommand& command = std::get<ExecRequest>(*fresh).command;
  CHECK(command.argv == std::vector<std::string>{"bash", "--noprofile", "--norc", "-c", "ls"});
  CHECK(command.time_ms == 5);
  // Files that a tool wrote start no program behind git's back.
  CHECK(command.environment.at("GIT_CONFIG_KEY_0") == "safe.bareRepository");
  CHECK(command.environment.at("GIT_CONFIG_VALUE_1") == "false");
  CHECK(command.environment.at("GIT_CONFIG_COUNT") == "7");
  CHECK(command.environment.at("GIT_CONFIG_KEY_6") == "gpg.ssh.program");
  CHECK(command.environment.at("GIT_CONFIG_GLOBAL") == "/dev/null");
  CHECK(command.environment.at("GIT_OPTIONAL_LOCKS") == "0");
  const auto session = read_request(bash, R"({"command":"ls; cd x"})");
  REQUIRE(session);
  CHECK(std::holds_alternative<BashRequest>(*session));
}

TEST_CASE("a command that a person approved has a shell of its own") {
  const ToolDescription bash = *describe_common_tool("bash");
  const auto approved = read_request(bash, R"({"command":"rm -r x"})", Consent::a_person);
  REQUIRE(approved);
  REQUIRE(std::holds_alternative<ExecRequest>(*approved));
  // It was seen: git does in it whatever the repository wants.
  CHECK(std::get<ExecRequest>(*approved).command.environment.empty());
  CHECK(std::holds_alternative<BashRequest>(*read_request(bash, R"({"command":"rm -r x"})")));
}

TEST_CASE("a command without words, with a NUL or without time is refused") {
  CHECK(is_refused("bash", R"({"command":"a\u0000b"})"));
  CHECK(is_refused("bash", R"({"command":"a","timeout":0})"));
  CHECK(is_refused("exec", R"({"argv":[]})"));
  CHECK(is_refused("exec", R"({"argv":["a\u0000b"]})"));
}

TEST_CASE("what no session runs is no request") {
  CHECK(is_refused("ask_user", R"({"question":"?"})"));
  CHECK(is_refused("todo", R"({"items":[]})"));
}

}  // namespace
}  // namespace pawl
