#include "pawl/tools/tool_request.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

template <class T>
T read(const char* name, std::string_view input) {
  const auto request = read_request(*describe_common_tool(name), input);
  REQUIRE_MESSAGE(request, request.error().message);
  REQUIRE(std::holds_alternative<T>(*request));
  return std::get<T>(*request);
}

TEST_CASE("arguments become the session's operation") {
  CHECK(read<ViewRequest>("view", R"({"path":"p","view_range":[3,-1]})").range->first == 3);
  CHECK_FALSE(read<ViewRequest>("view", R"({"path":"p"})").range);
  const auto made = read<FileWrite>("create_file", R"({"path":"p","file_text":"t"})");
  CHECK(made.overwrite == FileWrite::Overwrite::no);
  CHECK(read<FileWrite>("create_file", R"({"path":"p","file_text":"t","overwrite":true})")
            .overwrite == FileWrite::Overwrite::yes);
  CHECK(read<StrReplace>("str_replace", R"({"path":"p","old_str":"o"})").new_str.empty());
  const auto grep = std::get<GrepQuery>(read<FileRequest>(
      "grep", R"({"pattern":"x","include":"*.h","context":999,"ignore_case":true})"));
  CHECK(grep.path == ".");
  CHECK(grep.include == "*.h");
  CHECK(grep.context_lines == 20);
  CHECK(grep.letter_case == GrepQuery::Case::ignored);
  const auto page =
      std::get<OutputPage>(read<FileRequest>("read_output", R"({"artifact":"a","offset":7})"));
  CHECK(page.offset == 7);
  CHECK(page.length_max == 0);
}

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

TEST_CASE("what the schema should have caught is refused all the same") {
  const auto fails = [](const char* name, std::string_view input) {
    return !read_request(*describe_common_tool(name), input);
  };
  CHECK(fails("view", "{"));
  CHECK(fails("view", R"({"path":7})"));
  CHECK(fails("view", R"({"path":"p","view_range":[1]})"));
  CHECK(fails("view", R"({"path":"p","view_range":[1,"2"]})"));
  CHECK(fails("bash", R"({"command":"a\u0000b"})"));
  CHECK(fails("bash", R"({"command":"a","timeout":0})"));
  CHECK(fails("exec", R"({"argv":[]})"));
  CHECK(fails("exec", R"({"argv":["a\u0000b"]})"));
  CHECK(fails("create_file", R"({"path":"p","file_text":"t","overwrite":"yes"})"));
  CHECK(fails("read_output", R"({"artifact":"a","offset":-1})"));
  CHECK(fails("ask_user", R"({"question":"?"})"));
  CHECK(fails("todo", R"({"items":[]})"));
}

}  // namespace
}  // namespace pawl
