#include "pawl/adapter/backend/session/container.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "pawl/adapter/backend/sandbox/cgroup.h"
#include "pawl/adapter/backend/sandbox/host_identity.h"
#include "pawl/adapter/backend/sandbox/own_directory.h"
#include "pawl/adapter/backend/sandbox/system_paths.h"
#include "pawl/adapter/backend/session/container_bundle.h"
#include "pawl/adapter/backend/session/container_command.h"
#include "pawl/adapter/backend/session/container_roots.h"
#include "pawl/base/path_text.h"
#include "pawl/base/program_path.h"

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;
using Access = ContainerMount::Access;

constexpr std::string_view kGroups = "/sys/fs/cgroup";
constexpr std::string_view kProgramPlaces =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr int kRemovalsMax = 100;
constexpr std::array kEngines = {ContainerEngine::runc, ContainerEngine::podman,
                                 ContainerEngine::docker};

Status check(ContainerEngine engine) {
  const std::string word(name(engine));
  if (find_program(word).empty()) {
    return Error{ErrorCode::unavailable, word + " is not installed"};
  }
  if (engine == ContainerEngine::docker) return check_docker();
  if (::geteuid() != 0) return Error{ErrorCode::unavailable, word + " needs root here"};
  return ok();
}

std::vector<fs::path> groups_named(const std::string& id) {
  std::error_code none;
  std::vector<fs::path> groups = {fs::path(kGroups) / id};
  for (const auto& entry : fs::directory_iterator(kGroups, none)) {
    groups.push_back(entry.path() / id);
  }
  return groups;
}

void remove_group(const fs::path& group) {
  for (int attempt = 0; attempt < kRemovalsMax && ::rmdir(group.c_str()) != 0; ++attempt) {
    if (errno != EBUSY) break;
    ::poll(nullptr, 0, 5);
  }
}

std::vector<fs::path> directories_in(const fs::path& parent) {
  std::error_code none;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(parent, none)) {
    if (entry.is_directory(none)) found.push_back(entry.path());
  }
  return found;
}

// "\\040" is a blank, and so on: three octal digits behind a backslash.
std::string plain_mount_path(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size()) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 +
                                 text[at + 3] - '0');
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

// Of the host: the fifth field of each line.
std::vector<std::string> mount_points() {
  std::ifstream file("/proc/self/mountinfo");
  std::vector<std::string> points;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 5; ++i) fields >> field;
    points.push_back(plain_mount_path(field));
  }
  return points;
}

// An engine makes the mount read-only that it was told of, and none of those that come with it.
void add_inner_mounts(std::vector<ContainerMount>& mounts) {
  std::map<std::string, ContainerMount> inner;
  for (const std::string& point : mount_points()) {
    const ContainerMount* outer = nullptr;
    for (const ContainerMount& mount : mounts) {
      const bool longer = outer == nullptr || mount.source.size() > outer->source.size();
      if (longer && is_within(point, mount.source)) outer = &mount;
    }
    if (outer == nullptr || outer->source == point || outer->access != Access::read) continue;
    const std::string path = outer->path + point.substr(outer->source.size());
    if (::access(point.c_str(), F_OK) != 0) continue;  // another mount hides it
    inner[path] = {path, point, Access::read};
  }
  for (auto& [path, mount] : inner) mounts.push_back(std::move(mount));
}

ContainerMount::Kind mask_of(const sandbox::SandboxPlan& plan, const std::string& path) {
  using Kind = ContainerMount::Kind;
  std::error_code none;
  if (!fs::is_directory(path, none)) return Kind::other;
  const auto inner = [&](const std::string& root) { return is_beneath(root, path); };
  const bool passed =
      std::ranges::any_of(plan.write_roots, inner) || std::ranges::any_of(plan.read_roots, inner);
  return passed ? Kind::passage : Kind::directory;
}

}  // namespace

std::string_view name(ContainerEngine engine) {
  switch (engine) {
    case ContainerEngine::runc:
      return "runc";
    case ContainerEngine::podman:
      return "podman";
    case ContainerEngine::docker:
      break;
  }
  return "docker";
}

Result<ContainerEngine> find_engine(std::optional<ContainerEngine> wanted) {
  std::string why;
  for (const ContainerEngine engine : kEngines) {
    if (wanted && *wanted != engine) continue;
    const Status there = check(engine);
    if (there) return engine;
    why += (why.empty() ? "" : "; ") + there.error().message;
  }
  return Error{ErrorCode::unavailable, "no container: " + why +
                                           " (apt-get install runc and run as root, or use "
                                           "`namespace`, which needs neither)"};
}

Result<std::unique_ptr<Container>> make_container(ContainerEngine engine,
                                                  const ContainerPlan& plan) {
  PAWL_TRY(const std::vector<std::string> argv, behind_root_check(plan.sandbox, plan.argv));
  const ContainerPlan checked{plan.sandbox, plan.places, argv, plan.environment};
  if (engine == ContainerEngine::runc) return make_bundle(checked);
  return make_command_container(engine, checked);
}

void sweep_containers(ContainerEngine engine) {
  sandbox::sweep_directories(sandbox::kBundleDirectory);
  if (engine == ContainerEngine::docker) return sweep_docker();
  sandbox::sweep_groups(std::string(kGroups));
  for (const fs::path& controller : directories_in(kGroups)) sandbox::sweep_groups(controller);
}

std::string find_program(std::string_view name) {
  const char* own = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  const std::string path =
      (own == nullptr ? std::string() : std::string(own) + ":") + std::string(kProgramPlaces);
  for (std::string& candidate : program_candidates(name, path)) {
    if (candidate.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

// At every path that a program has inside: /bin is another mount of /usr/bin there.
static void add_masks(const std::vector<std::string>& programs,
                      std::vector<ContainerMount>& mounts) {
  std::set<std::string> paths(programs.begin(), programs.end());
  for (const std::string& program : programs) {
    for (const ContainerMount& mount : mounts) {
      if (mount.access == Access::hidden || !is_within(program, mount.source)) continue;
      paths.insert(mount.path + program.substr(mount.source.size()));
    }
  }
  for (const std::string& path : paths) mounts.push_back({path, "/dev/null", Access::read});
}

std::vector<ContainerMount> mounts_of(const ContainerPlan& plan) {
  using Hold = sandbox::ProtectedPlace::Hold;
  std::map<std::string, Access> found;
  for (const auto path : sandbox::kSystemDirectories) found[std::string(path)] = Access::read;
  for (const auto path : sandbox::kSystemConfiguration) found[std::string(path)] = Access::read;
  for (const sandbox::ProtectedPlace& place : plan.places) {
    found[place.path] = place.hold == Hold::read_only ? Access::read : Access::write;
  }
  for (const std::string& root : plan.sandbox.read_roots) found[root] = Access::read;
  for (const std::string& root : plan.sandbox.write_roots) found[root] = Access::write;
  for (const std::string& root : plan.sandbox.deny_roots) found[root] = Access::hidden;
  for (const sandbox::ProtectedPlace& place : plan.places) {
    if (place.hold == Hold::hidden) found[place.path] = Access::hidden;
  }
  std::vector<ContainerMount> mounts;
  for (const auto& [path, access] : found) {
    if (access == Access::hidden) {
      mounts.push_back({path, path, access, mask_of(plan.sandbox, path)});
      continue;
    }
    std::error_code none;
    const fs::path source = fs::canonical(path, none);
    if (!none) mounts.push_back({path, source, access});
  }
  add_inner_mounts(mounts);
  for (const sandbox::PlanMount& made : plan.sandbox.mounts) {
    const bool read = made.access == sandbox::PlanMount::Access::read;
    mounts.push_back({made.target, made.source, read ? Access::read : Access::write});
  }
  add_masks(plan.sandbox.masked, mounts);
  std::stable_sort(mounts.begin(), mounts.end(), [](const auto& left, const auto& right) {
    return left.path.size() < right.path.size();
  });
  return mounts;
}

ContainerUser user_of(const sandbox::SandboxPlan& plan) {
  const struct stat owner = sandbox::owner_of(plan);
  return {owner.st_uid, owner.st_gid};
}

std::vector<std::string> tied_to_host(std::vector<std::string> command) {
  std::vector<std::string> tied = {"unshare",      "--pid",        "--fork",
                                   "--kill-child", "--mount-proc", "--"};
  tied.insert(tied.end(), std::make_move_iterator(command.begin()),
              std::make_move_iterator(command.end()));
  return tied;
}

// The engine was killed and cannot do it itself.
void remove_groups(const std::string& id) {
  for (const fs::path& group : groups_named(id)) {
    for (const fs::path& inner : directories_in(group)) remove_group(inner);
    remove_group(group);
  }
}

std::uint64_t memory_kills_of(const std::string& id) {
  std::uint64_t kills = 0;
  std::vector<fs::path> groups = groups_named(id);
  for (const fs::path& group : groups_named(id)) {
    for (fs::path& inner : directories_in(group)) groups.push_back(std::move(inner));
  }
  for (const fs::path& group : groups) {
    for (const char* file_name : {"memory.oom_control", "memory.events"}) {
      std::ifstream file(group / file_name);
      std::string word;
      std::uint64_t value = 0;
      while (file >> word >> value) {
        if (word == "oom_kill") kills += value;
      }
    }
  }
  return kills;
}

}  // namespace pawl::backend
