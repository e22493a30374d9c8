#include "pawl/app/call_facts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "pawl/runtime/charter_tools.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("an approval is bound to the directory, the environment and the files that are named") {
  TempDirectory directory;
  write(directory / "build.sh", "echo one");
  CallPlace place{directory.path(), {{"LANG", "C"}}, {}};
  const ProposedCall call{"bash", R"({"command":"sh build.sh --fast"})"};
  const std::string first = circumstances_of(place, call);
  CHECK(circumstances_of(place, call) == first);

  write(directory / "build.sh", "echo two");
  CHECK(circumstances_of(place, call) != first);
  write(directory / "build.sh", "echo one");
  CHECK(circumstances_of(place, call) == first);

  place.environment["LANG"] = "D";
  CHECK(circumstances_of(place, call) != first);
  place.environment["LANG"] = "C";
  place.directory = "/";
  CHECK(circumstances_of(place, call) != first);
}

TEST_CASE("the program of a command tool is one of its files") {
  TempDirectory directory;
  write(directory / "pay.sh", "echo one");
  const CallPlace place{directory.path(), {}, {{"pay", {"./pay.sh"}}}};
  const std::string first = circumstances_of(place, {"pay", "{}"});
  write(directory / "pay.sh", "echo two");
  CHECK(circumstances_of(place, {"pay", "{}"}) != first);
}

TEST_CASE("file tools touch absolute paths, fetches a host; what cannot be read is an error") {
  const CallPlace place{"/srv/w", {}, {}};
  const auto view = describe_common_tool("view");
  REQUIRE(view);
  CHECK(touches_of(place, *view, R"({"path":"a/../b"})")->paths ==
        std::vector<std::string>{"/srv/w/b"});
  CHECK_FALSE(touches_of(place, *view, "{"));
  CHECK(touches_of_url(R"({"url":"https://Example.org/x"})")->domains ==
        std::vector<std::string>{"example.org"});
  CHECK_FALSE(touches_of_url(R"({"url":"http://a@b/"})"));
  CHECK_FALSE(touches_of_url("{}"));
}

TEST_CASE("the tools that charters may name are those that there are") {
  std::vector<std::string> known(kCommonToolNames.begin(), kCommonToolNames.end());
  std::erase_if(known, [](const std::string& name) { return name.starts_with("http_"); });
  std::vector<std::string> there;
  const auto definitions = common_definitions();
  REQUIRE(definitions);
  for (const ToolDescription& one : *definitions) there.push_back(one.spec.name);
  std::sort(known.begin(), known.end());
  std::sort(there.begin(), there.end());
  CHECK(known == there);
}

TEST_CASE("shell rules see the command of bash and the words of exec") {
  ShellPolicy policy;
  policy.allow = {"ls"};
  const auto bash = describe_common_tool("bash");
  const auto exec = describe_common_tool("exec");
  REQUIRE((bash && exec));
  CHECK(shell_of(*bash, R"({"command":"ls","description":"x"})", policy).verdict == Verdict::allow);
  CHECK(shell_of(*bash, R"({"command":"ls; touch M","description":"x"})", policy).verdict ==
        Verdict::ask);
  CHECK(shell_of(*exec, R"({"argv":["ls"]})", policy).verdict == Verdict::allow);
  CHECK(shell_of(*exec, R"({"argv":["touch","M"]})", policy).verdict == Verdict::ask);
  CHECK(shell_of(*exec, "[", policy).verdict == Verdict::deny);
}

}  // namespace
}  // namespace pawl
