#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/gate/rules/rules.h"
#include "pawl/json.h"

namespace pawl {
namespace {

const RuleSet& shipped() {
  static const RuleSet set = [] {
    auto compiled = RuleSet::compile(default_rules());
    REQUIRE(compiled);
    return std::move(*compiled);
  }();
  return set;
}

std::string verdict(const std::string& tool, const std::string& input) {
  const RuleOutcome outcome = shipped().judge({tool, input}, nullptr);
  CHECK(outcome.needs_script.empty());
  if (!outcome.judgement) return "-";
  CHECK(outcome.judgement->reason != "");
  return std::string(name(outcome.judgement->verdict)) + " " + outcome.judgement->rule;
}

std::string bash(const std::string& command) {
  JsonWriter out;
  out.begin_object().field("command", command).end_object();
  return verdict("bash", out.take());
}

std::string path(const std::string& tool, const std::string& where) {
  JsonWriter out;
  out.begin_object().field("path", where).end_object();
  return verdict(tool, out.take());
}

TEST_CASE("shell commands that the shipped rules know") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"ls -l", "-"},
      {"rm x", "-"},
      {"rm $x", "ask destroy-system.bash"},
      {"rm -rf build", "ask lose-work.bash"},
      {"rm -rf /", "deny destroy-system.bash"},
      {"rm -fr /*", "deny destroy-system.bash"},
      {"cd /; rm -r -f //", "deny destroy-system.bash"},
      {"echo $(rm --recursive --force /)", "deny destroy-system.bash"},
      {"bash -c 'rm -Rf /usr'", "deny destroy-system.bash"},
      {"mkfs.ext4 /dev/sda", "deny destroy-disk.bash"},
      {"dd if=x of=/dev/sda", "deny destroy-disk.bash"},
      {"sudo ls", "deny privileges.bash"},
      {"git push", "ask publish.bash"},
      {"git push origin main --force", "deny force-push.bash"},
      {"git push -f", "deny force-push.bash"},
      {"git push origin +main", "deny force-push.bash"},
      {"git push origin :main", "deny force-push.bash"},
      {"git push -d origin main", "deny force-push.bash"},
      {"git push origin :", "ask publish.bash"},
      {"run0 ls", "deny privileges.bash"},
      {"bash <<E\nsudo ls\nE", "deny privileges.bash"},
      {"echo 'rm -rf /' | sh", "deny destroy-system.bash"},
      {"git reset --hard HEAD~1", "ask lose-work.bash"},
      {"git -C x clean -fdx", "ask lose-work.bash"},
      {"npm publish", "ask publish.bash"},
      {"echo 'sudo ls'", "-"},
      {"echo $((1); (sudo ls))", "deny privileges.bash"},
  };
  for (const auto& [command, expected] : cases) {
    INFO(command);
    CHECK(bash(command) == expected);
  }
}

TEST_CASE("lists of words are judged alike") {
  CHECK(verdict("exec", R"({"argv":["rm","-rf","/"]})") == "deny destroy-system.exec");
  CHECK(verdict("exec", R"({"argv":["sh","-c","rm -rf /"]})") == "deny destroy-system.exec");
  CHECK(verdict("exec", R"({"argv":["ls","-rf","/"]})") == "-");
  CHECK(verdict("exec", R"({"argv":["git","push"]})") == "ask publish.exec");
  CHECK(verdict("bash_tool", R"({"command":"sudo x"})") == "deny privileges.bash");
  // Arguments of another shape are in doubt, and doubt forbids.
  CHECK(verdict("exec", R"({"argv":[1]})").starts_with("deny"));
  CHECK(verdict("exec", "damaged").starts_with("deny"));
}

TEST_CASE("protected names") {
  for (const char* where : {".git/config", "a/.git/hooks/x", "/w/.ssh/id", ".GIT/x", ".git",
                            "./.git/config", "a/../.git/config", ".pawl/x", "a/.envrc",
                            ".cargo/credentials", "x/.mcp.json", ".gitconfig", ".aws/config"}) {
    INFO(std::string(where));
    CHECK(path("create_file", where) == "deny protected-names.create_file");
    CHECK(path("str_replace", where) == "deny protected-names.str_replace");
    CHECK(path("view", where) == "-");
  }
  CHECK(path("create_file", "src/a.git.cc") == "-");
  CHECK(path("create_file", ".gitignore") == "-");
  CHECK(path("create_file", ".cargo/config.toml") == "-");
  for (const char* where : {".vscode/tasks.json", "a/.npmrc", ".idea/x.xml", ".gitmodules"}) {
    INFO(std::string(where));
    CHECK(path("create_file", where) == "ask asked-names.create_file");
    CHECK(path("str_replace", where) == "ask asked-names.str_replace");
  }
  CHECK(verdict("apply_patch", R"({"patch":"--- a/x\n+++ b/.npmrc\n"})") ==
        "ask asked-names.apply_patch");
  CHECK(path("create_file", "x/.bashrc") == "ask startup-files.create_file");
  CHECK(path("str_replace", ".profile") == "ask startup-files.str_replace");
  CHECK(verdict("apply_patch", R"({"patch":"--- a/x\n+++ b/.git/config\n"})") ==
        "deny protected-names.apply_patch");
  CHECK(verdict("apply_patch", R"({"patch":"--- a/x\n+++ b/x\n+ see .git/config\n"})") == "-");
  for (const char* patch : {"--- /dev/null\\n+++ b/.bashrc\\n", "*** Add File: .profile\\n+x\\n",
                            "*** Update File: x\\n*** Move to: a/.zshenv\\n",
                            "rename from x\\nrename to .bash_login\\n"}) {
    CAPTURE(patch);
    CHECK(verdict("apply_patch", R"({"patch":")" + std::string(patch) + R"("})") ==
          "ask startup-files.apply_patch");
  }
  CHECK(verdict("apply_patch", R"({"patch":"--- a/x\n+++ b/x.bashrc\n+ .bashrc\n"})") == "-");
}

TEST_CASE("addresses that are not https") {
  CHECK(verdict("http_fetch", R"({"url":"https://a.test/"})") == "-");
  CHECK(verdict("http_fetch", R"({"url":"http://a.test/"})") == "ask plain-http.http_fetch");
  CHECK(verdict("http_fetch", R"({"url":"a.test"})") == "ask plain-http.http_fetch");
  CHECK(verdict("http_fetch", R"({})") == "ask plain-http.http_fetch");
  CHECK(verdict("http_post", R"({"url":"http://a.test/"})") == "ask plain-http.http_post");
}

TEST_CASE("every shipped rule has its own id and a reason, and none allows") {
  std::vector<std::string> ids;
  for (const ToolRule& rule : default_rules()) {
    CHECK(rule.reason != "");
    CHECK(rule.verdict != Verdict::allow);
    ids.push_back(rule.id);
  }
  std::sort(ids.begin(), ids.end());
  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
}

}  // namespace
}  // namespace pawl
