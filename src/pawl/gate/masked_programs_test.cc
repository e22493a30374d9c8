#include "pawl/gate/masked_programs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

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
  CHECK(files_of_programs({"no-such-program-anywhere"})->empty());
  const Names files = *files_of_programs({"env", "busybox"});
  REQUIRE_FALSE(files.empty());
  CHECK(files.front() == std::filesystem::canonical("/usr/bin/env").string());
  CHECK(std::none_of(files.begin(), files.end(),
                     [](const std::string& file) { return file.ends_with("busybox"); }));
}

TEST_CASE("hard links and copies of a program are its files, too, and other programs are not") {
  namespace fs = std::filesystem;
  const TempDirectory directory;
  const std::string bin = directory / "bin";
  fs::create_directory(bin);
  std::ofstream(bin + "/tool") << "a program";
  fs::create_hard_link(bin + "/tool", bin + "/other-name");
  fs::copy(bin + "/tool", bin + "/tool-1.2");
  fs::create_symlink("tool", bin + "/link");
  std::ofstream(bin + "/tool-kit") << "b program";
  std::ofstream(bin + "/toolbox") << "a longer program";
  Names files = *files_of_programs({"tool"}, bin);
  std::ranges::sort(files);
  CHECK(files == Names{bin + "/other-name", bin + "/tool", bin + "/tool-1.2"});
}

TEST_CASE("a file that cannot be read is a copy of nothing") {
  const TempDirectory directory;
  const std::string empty = std::filesystem::canonical(directory.path()).string() + "/mem-2";
  std::ofstream{empty};  // as long as /proc/self/mem says it is
  const Names files = *files_of_programs({"mem"}, "/proc/self:" + directory.path());
  CHECK(files.size() == 1);
  CHECK(std::find(files.begin(), files.end(), empty) == files.end());
}

TEST_CASE("programs that are too many to mask are an error, and never masked in part") {
  const TempDirectory directory;
  const std::string bin = directory / "bin";
  std::filesystem::create_directory(bin);
  Names names;
  for (std::size_t i = 0; i <= kMaskedProgramsMax; ++i) {
    names.push_back("tool" + std::to_string(i));
    std::ofstream(bin + "/" + names.back()) << "program " << i;
  }
  const auto all = files_of_programs(names, bin);
  REQUIRE_FALSE(all);
  CHECK(all.error().code == ErrorCode::limit_exceeded);
  CHECK(all.error().message.find("513 files") != std::string::npos);
  names.pop_back();
  CHECK(files_of_programs(names, bin)->size() == kMaskedProgramsMax);
}

TEST_CASE("git's second copy is masked with git") {
  const std::string second = "/usr/lib/git-core/git";
  if (!std::filesystem::exists(second)) return;
  const Names files = *files_of_programs({"git"});
  CHECK(std::ranges::find(files, std::filesystem::canonical(second).string()) != files.end());
}

}  // namespace
}  // namespace pawl
