#include "pawl/adapter/backend/session/container_roots.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

namespace pawl::backend {
namespace {

// Its name is that of `stat`. Pairs of a root and its identity, then ":", then the command. What a
// shell adds to the variables is taken out again.
constexpr const char* kLook = R"sh(
while [ "$1" != : ]; do
  if [ "$("$0" -c %d:%i -- "$1")" != "$2" ]; then
    echo "[The root $1 is not the one with which the session began; the command was not run.]" >&2
    exit 125
  fi
  shift 2
done
shift
unset PWD OLDPWD SHLVL _
exec "$@")sh";

// The first of `programs` that commands may execute.
std::optional<std::string> usable(const sandbox::SandboxPlan& plan,
                                  std::initializer_list<std::string_view> programs) {
  for (const std::string_view program : programs) {
    std::error_code none;
    const std::string real = std::filesystem::canonical(program, none).string();
    if (none || std::ranges::find(plan.masked, real) != plan.masked.end()) continue;
    return std::string(program);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> behind_root_check(const sandbox::SandboxPlan& plan,
                                                   const std::vector<std::string>& argv) {
  if (argv.empty() || !plan.held || plan.held->empty()) return argv;  // nothing to run or compare
  const auto shell = usable(plan, {"/bin/sh", "/bin/dash", "/bin/bash"});
  const auto stat = usable(plan, {"/usr/bin/stat", "/bin/stat"});
  if (!shell || !stat) {
    return Error{ErrorCode::unavailable,
                 "no container: a rule denies the programs `sh` or `stat`, and without them the "
                 "roots cannot be compared (use `namespace`)"};
  }
  std::vector<std::string> checked = {*shell, "-c", kLook, *stat};
  for (const sandbox::HeldRoot& root : *plan.held) {
    struct stat status{};
    if (::fstat(root.object.number(), &status) != 0) continue;
    checked.push_back(root.path);
    checked.push_back(std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino));
  }
  checked.emplace_back(":");
  checked.insert(checked.end(), argv.begin(), argv.end());
  return checked;
}

}  // namespace pawl::backend
