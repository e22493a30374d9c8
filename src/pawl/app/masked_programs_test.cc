#include "pawl/app/masked_programs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace pawl {
namespace {

using Names = std::vector<std::string>;

ToolRule denial(const char* tool, const char* argument, Names patterns) {
  ToolRule rule;
  rule.id = "no";
  rule.pattern = {tool, {{argument, ConditionKind::runs, Sense::is, std::move(patterns)}}};
  rule.verdict = pawl::Verdict::deny;
  return rule;
}

TEST_CASE("a program is masked where every tool that could run it is denied it") {
  const std::vector<ToolRule> rules = {denial("bash*", "command", {"curl", "wget *", "git push"}),
                                       denial("exec", "argv", {"curl", "mkfs*"})};
  CHECK(programs_denied(rules, std::nullopt, {"bash"}) == Names{"curl", "wget"});
  CHECK(programs_denied(rules, std::nullopt, {"bash", "exec", "view"}) == Names{"curl"});
  CHECK(programs_denied(rules, std::nullopt, {"view"}).empty());
  ShellPolicy shell;
  shell.deny = {"wget"};
  CHECK(programs_denied(rules, shell, {"exec"}) == Names{"curl", "wget"});
  ToolRule asking = denial("bash", "command", {"nc"});
  asking.verdict = pawl::Verdict::ask;
  CHECK(programs_denied({asking}, std::nullopt, {"bash"}).empty());
}

TEST_CASE("the shipped rules deny programs for both tools") {
  const Names names = programs_denied(default_rules(), std::nullopt, {"bash", "exec"});
  CHECK(std::find(names.begin(), names.end(), "sudo") != names.end());
  CHECK(std::find(names.begin(), names.end(), "git") == names.end());
}

TEST_CASE("files of programs, links resolved") {
  CHECK(files_of_programs({"no-such-program-anywhere"}).empty());
  const Names files = files_of_programs({"env", "busybox"});
  REQUIRE_FALSE(files.empty());
  CHECK(files.front() == std::filesystem::canonical("/usr/bin/env").string());
  CHECK(std::none_of(files.begin(), files.end(),
                     [](const std::string& file) { return file.ends_with("busybox"); }));
}

}  // namespace
}  // namespace pawl
