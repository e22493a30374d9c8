#include "pawl/adapter/backend/sandbox/cgroup.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/support/temp_directory.h"

namespace pawl::sandbox {
namespace {

// All groups of ours, wherever they are.
std::set<std::string> groups_of(pid_t pid) {
  std::set<std::string> found;
  std::error_code none;
  const std::string part = "-" + std::to_string(pid) + "-";
  for (std::filesystem::recursive_directory_iterator at("/sys/fs/cgroup", none), end; at != end;
       at.increment(none)) {
    const std::string name = at->path().filename();
    if (name.starts_with("pawl-") && name.find(part) != std::string::npos) {
      found.insert(at->path());
    }
  }
  return found;
}

TEST_CASE("a group is made where controllers are handed down, above the scope of a login") {
  const TempDirectory mount;
  const std::string scope = "/user.slice/user-0.slice/session-1.scope";
  std::filesystem::create_directories(mount.path() + scope);
  const auto hand_down = [&](const std::string& group, const char* controllers) {
    std::ofstream(mount.path() + group + "/cgroup.subtree_control") << controllers;
    std::ofstream(mount.path() + group + "/cgroup.procs") << "";
  };
  CHECK(unified_parent(mount.path(), scope) == mount.path() + scope);  // nobody does
  hand_down("", "cpu memory pids\n");
  hand_down("/user.slice", "cpu memory pids\n");
  hand_down("/user.slice/user-0.slice", "cpu\n");
  hand_down(scope, "\n");
  CHECK(unified_parent(mount.path(), scope) == mount.path() + "/user.slice");
  CHECK(unified_parent(mount.path(), "/") == mount.path());
  CHECK(unified_parent(mount.path(), "").empty());
}

TEST_CASE("groups go with their object, and those of a host that was killed with the next one") {
  {
    const Cgroup probe = Cgroup::make(BackendLimits());
  }
  CHECK(groups_of(::getpid()).empty());
  const pid_t child = ::fork();
  if (child == 0) {
    const Cgroup left = Cgroup::make(BackendLimits());
    ::_exit(left.doors().empty() ? 1 : 0);  // without a word, as if killed
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (status != 0) {
    std::printf("SKIPPED: this host may not make control groups\n");
    return;
  }
  CHECK_FALSE(groups_of(child).empty());
  {
    const Cgroup next = Cgroup::make(BackendLimits());
  }
  CHECK(groups_of(child).empty());
}

}  // namespace
}  // namespace pawl::sandbox
