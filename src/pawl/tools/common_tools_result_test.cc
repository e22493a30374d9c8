#include "pawl/tools/common_tools.h"

#include <doctest/doctest.h>

#include "pawl/json.h"

namespace pawl {
namespace {

ToolDescription tool(const char* name, std::uint64_t bytes_max = kToolOutputDefaultBytes) {
  CommonToolOptions options;
  options.output_bytes_max = bytes_max;
  return *describe_common_tool(name, options);
}

BackendOutcome outcome(BackendOutcome::Kind kind, std::string output) {
  BackendOutcome made;
  made.kind = kind;
  made.output = std::move(output);
  made.output_length = made.output.size();
  return made;
}

using SessionEnd = BackendOutcome::Kind;

TEST_CASE("each end of a command is told by its name") {
  const auto shown = [](SessionEnd kind) {
    return tool_outcome(outcome(kind, "out"), tool("bash"));
  };
  CHECK(shown(SessionEnd::ok).kind == ToolOutcome::Kind::succeeded);
  CHECK(shown(SessionEnd::failed).kind == ToolOutcome::Kind::failed);
  CHECK(shown(SessionEnd::timed_out).kind == ToolOutcome::Kind::timed_out);
  CHECK(shown(SessionEnd::aborted).kind == ToolOutcome::Kind::aborted);
  CHECK(shown(SessionEnd::killed).kind == ToolOutcome::Kind::aborted);
  for (const SessionEnd kind : {SessionEnd::memory, SessionEnd::cpu, SessionEnd::processes,
                                SessionEnd::disk, SessionEnd::denied}) {
    const ToolOutcome made = shown(kind);
    CHECK(made.kind == ToolOutcome::Kind::failed);
    CHECK(*parse_json(made.content)->find_string("error") == name(kind));
  }
}

TEST_CASE("output beyond the bound is cut, and the result stays whole JSON") {
  BackendOutcome big = outcome(SessionEnd::ok, std::string());
  for (int i = 0; i < 20'000; ++i) big.output += "\x01\xe2\x82\xac";
  big.output_length = 1'000'000;
  big.artifact = "/srv/artifacts/out-1";
  for (const std::uint64_t bytes_max : {300U, 1000U, 1001U, 1002U, 1003U, 50'000U}) {
    const ToolOutcome made = tool_outcome(big, tool("bash", bytes_max));
    CHECK(made.content.size() <= bytes_max);
    CHECK(made.content.size() + 20 > bytes_max);  // as much as fits
    const auto json = parse_json(made.content);
    REQUIRE(json);
    CHECK(json->find("truncated")->boolean());
    CHECK(json->find("output_length")->as_uint64() == 1'000'000);
    CHECK(*json->find_string("artifact") == "out-1");
    CHECK(made.content_length == 1'000'000);
  }
  CHECK(tool_outcome(big, tool("bash", 10)).content.empty());
}

TEST_CASE("many files are left out, and with little room all of them") {
  BackendOutcome many = outcome(SessionEnd::ok, "x");
  for (std::size_t i = 0; i < kFilesShownMax + 2; ++i) many.files.push_back({"f", 1, {}});

  const Json all = *parse_json(tool_outcome(many, tool("bash")).content);
  CHECK(all.find("files")->array().size() == kFilesShownMax);
  CHECK(all.find("files_left_out")->as_uint64() == 2);
  const ToolOutcome tight = tool_outcome(many, tool("bash", 200));
  CHECK(tight.content.size() <= 200);
  CHECK(parse_json(tight.content)->find("files")->array().empty());
}

TEST_CASE("a level is told where a process ran, and only there") {
  BackendOutcome made = outcome(SessionEnd::ok, "x");
  made.level = IsolationLevel::landlock;
  CHECK(*parse_json(tool_outcome(made, tool("exec")).content)->find_string("level") == "landlock");
  CHECK(parse_json(tool_outcome(made, tool("view")).content)->find("level") == nullptr);
  const ToolOutcome refused = refused_call(ToolOutcome::Kind::failed, "why \xff", tool("bash"));
  CHECK(refused.content == "{\"ok\":false,\"output\":\"why \xef\xbf\xbd\",\"files\":[]}");
}

}  // namespace
}  // namespace pawl
