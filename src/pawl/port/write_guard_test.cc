#include "pawl/port/write_guard.h"

#include <doctest/doctest.h>

#include "pawl/executor.h"

namespace pawl {
namespace {

const std::vector<std::string> kRoots = {"/w/out", "/srv"};

std::string objection(const std::string& tool, const std::string& input) {
  return write_objection(kRoots, "/w", tool, input);
}

}  // namespace

TEST_CASE("A13 an executor's own tool writes beneath the write roots only") {
  CHECK(objection("create_file", R"({"path":"out/a.txt"})").empty());
  CHECK(objection("Write", R"({"file_path":"/srv/a"})").empty());
  CHECK(objection("Write", R"({"file_path":"/srv/"})").empty());
  CHECK(objection("view", R"({"path":"/etc/hosts"})").empty());
  CHECK(objection("bash", R"({"command":"ls /etc"})").empty());
  CHECK(objection("create_file", "").empty());
  for (const char* path : {"a.txt", "/etc/passwd", "out/../a", "/w/outside", "/srv/../etc",
                           "~/.ssh/config", "file:///etc/passwd", "", "/srvx", "//etc/passwd"}) {
    INFO(path);
    const std::string text(path);
    for (const char* key : {"path", "file_path", "notebook_path", "filePath", "targetFile"}) {
      CHECK_FALSE(objection("Edit", "{\"" + std::string(key) + "\":\"" + text + "\"}").empty());
    }
  }
  CHECK(objection("create_file", R"({"path":"/x"})") ==
        "/x is outside of what create_file may write: /w/out, /srv");
}

TEST_CASE("a path is found at any depth and in lists") {
  CHECK_FALSE(
      objection("MultiEdit", R"({"edits":[{"file_path":"out/a"},{"file_path":"b"}]})").empty());
  CHECK_FALSE(objection("delete", R"({"paths":["out/a",["/etc/b"]]})").empty());
  CHECK(objection("delete", R"({"paths":["out/a"],"why":"/etc/b is old"})").empty());
}

TEST_CASE("arguments that are not JSON are refused") {
  CHECK(objection("create_file", "{\"path\":").starts_with("the arguments of create_file are not"));
}

TEST_CASE("the hook asks the write roots after the list and before the host's own check") {
  HookPolicy policy;
  int asked = 0;
  policy.on_pre_tool_use = [&asked](const std::string&, const std::string&) {
    ++asked;
    return HookDecision{};
  };
  const auto verdict = [&policy](const std::string& input) {
    return check(policy, "create_file", input).verdict;
  };
  using Verdict = HookDecision::Verdict;
  CHECK(verdict(R"({"path":"/x"})") == Verdict::allow);
  policy.write_roots.emplace();
  policy.directory = "/w";
  CHECK(verdict(R"({"path":"a"})") == Verdict::deny);
  CHECK(check(policy, "create_file", R"({"path":"a"})").reason ==
        "a is outside of what create_file may write: nothing");
  policy.write_roots->push_back("/w");
  CHECK(verdict(R"({"path":"a"})") == Verdict::allow);
  CHECK(asked == 2);
}

}  // namespace pawl
