#include "pawl/charter/host/host_programs.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "pawl/base/files.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

using Names = std::vector<std::string>;
using Where = CommandDeclaration::Where;

CommandDeclaration declared(Names command, Where where = Where::sandbox) {
  CommandDeclaration one;
  one.command = std::move(command);
  one.where = where;
  return one;
}

SecretReference provider_command(Names words) {
  return {SecretReference::Kind::command, "", std::move(words)};
}

Names protected_in(const std::string& root, const Names& programs) {
  ExecutionContext context;
  context.write_roots = {root};
  protect_programs(programs, context);
  Names names;
  for (const std::string& path : context.protected_places) {
    names.push_back(path.substr(root.size() + (root == "/" ? 0 : 1)));
  }
  return names;
}

}  // namespace

TEST_CASE("sc-B16 the host's programs are its commands and the scripts of rules") {
  const TempDirectory directory;
  const std::string w = directory.path();
  for (const char* file : {"run.py", "input.txt", "notes.md", "x.sh"}) {
    REQUIRE(write_new_file(directory / file, ""));
  }
  Charter charter;
  charter.directory = w;
  charter.commands = {declared({"./pay.sh", "notes.md"}), declared({"cat", "notes.md"}),
                      declared({"python3.11", "-u", "run.py", "input.txt"}),
                      declared({"env", "bash", "-e", "x.sh"}),
                      declared({"sh", "-c", "cat notes.md"})};
  charter.commands.front().status = {"/asked"};
  ToolRule rule;
  rule.script = "./check.sh";
  ToolRule users;
  users.script = "/etc/pawl/check.sh";

  CHECK(host_programs(charter, {rule, {}, users}) == Names{w + "/pay.sh", "/asked", w + "/run.py",
                                                           w + "/x.sh", w + "/check.sh",
                                                           "/etc/pawl/check.sh"});

  charter.sandbox.declared = SandboxDeclaration::Declared::yes;
  CHECK(host_programs(charter, {}).empty());
  charter.commands.push_back(declared({"./deploy"}, Where::host));
  CHECK(host_programs(charter, {}) == Names{w + "/deploy"});
}

TEST_CASE("sc-B16 a command that gives a key is one of them, from where the host was started") {
  Charter charter;
  charter.directory = "/w";
  ProviderDeclaration provider;
  provider.key = provider_command({"./key.sh", "x"});
  provider.headers = {{"a", "b"}, {"c", provider_command({"/bin/c"})}};
  charter.providers = {ProviderDeclaration{}, provider};
  const std::string here = std::filesystem::current_path().string();
  CHECK(host_programs(charter, {}) == Names{here + "/key.sh", "/bin/c"});
}

TEST_CASE("sc-B16 those beneath a write root are protected names") {
  CHECK(protected_in("/w", {"/w/check.sh", "/w/a/b.sh", "/w/check.sh", "/w-evil/c.sh", "/x.sh"}) ==
        Names{"check.sh", "a/b.sh"});
}

TEST_CASE("sc-B16 a link to a program is one, and so is what it leads to") {
  const TempDirectory directory;
  std::filesystem::create_directory(directory / "root");
  REQUIRE(write_new_file(directory / "root/real.sh", ""));
  std::filesystem::create_symlink("root/real.sh", directory / "link.sh");
  const std::string root = std::filesystem::canonical(directory / "root").string();
  CHECK(protected_in(root, {directory / "link.sh"}) == Names{"real.sh"});
}

TEST_CASE("sc-A08 the data directory is never written, wherever it lies") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "root/data");
  std::filesystem::create_directory_symlink("root/data", directory / "link");
  ExecutionContext context;
  context.write_roots = {directory / "root"};
  const std::string inside = directory / "root/data";
  for (const std::string& data : {inside, directory / "link"}) {
    context.read_roots.clear();
    CHECK(keep_data(data, context));
    CHECK(context.deny_roots == Names{inside});
  }
  context.deny_roots.clear();
  CHECK(keep_data("", context));
  CHECK(keep_data(directory / "elsewhere", context));
  CHECK(context.deny_roots.empty());
  context.write_roots = {inside};
  CHECK_FALSE(keep_data(inside, context));
  CHECK_FALSE(keep_data(directory / "root", context));
}

}  // namespace pawl
