#include "pawl/adapter/backend/session/container_bundle.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "pawl/adapter/backend/sandbox/cgroup.h"
#include "pawl/adapter/backend/sandbox/system_paths.h"
#include "pawl/base/json.h"

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrograms[] = {"/usr/sbin/runc", "/usr/bin/runc", "/usr/local/bin/runc",
                                     "/usr/local/sbin/runc"};
constexpr std::string_view kGroups = "/sys/fs/cgroup";
constexpr int kRemovalsMax = 100;

std::string find_runc() {
  for (const char* path : kPrograms) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

Json object(std::vector<std::pair<std::string, Json>> members) {
  JsonObject made;
  for (auto& [key, value] : members) made.set(std::move(key), std::move(value));
  return made;
}

Json list(const std::vector<std::string>& texts) {
  JsonArray made;
  for (const std::string& text : texts) made.emplace_back(text);
  return made;
}

Json mount(const std::string& source, const std::string& target, const std::string& type,
           const std::vector<std::string>& options) {
  return object(
      {{"destination", target}, {"type", type}, {"source", source}, {"options", list(options)}});
}

enum class Access : std::uint8_t { read, write };

// Outer ones first, or they would hide what is mounted in them. Of two for one place the later
// counts.
std::vector<std::pair<std::string, Access>> places_of(
    const sandbox::SandboxPlan& plan, const std::vector<sandbox::ProtectedPlace>& places) {
  using Hold = sandbox::ProtectedPlace::Hold;
  std::map<std::string, Access> found;
  for (const sandbox::ProtectedPlace& place : places) {
    found[place.path] = place.hold == Hold::read_only ? Access::read : Access::write;
  }
  for (const std::string& root : plan.read_roots) found[root] = Access::read;
  for (const std::string& root : plan.write_roots) found[root] = Access::write;
  std::vector<std::pair<std::string, Access>> sorted(found.begin(), found.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& left, const auto& right) {
    return left.first.size() < right.first.size();
  });
  return sorted;
}

Json mounts_of(const sandbox::SandboxPlan& plan,
               const std::vector<sandbox::ProtectedPlace>& places) {
  const std::vector<std::string> read = {"rbind", "ro", "nosuid", "nodev"};
  const std::vector<std::string> write = {"rbind", "rw", "nosuid", "nodev"};
  const std::string size = "size=" + std::to_string(plan.limits.memory_bytes);
  JsonArray mounts = {
      mount("proc", "/proc", "proc", {"ro", "nosuid", "nodev", "noexec"}),
      mount("tmpfs", "/dev", "tmpfs", {"nosuid", "mode=755", "size=64k"}),
      mount("tmpfs", "/tmp", "tmpfs", {"nosuid", "nodev", "mode=1777", size}),
  };
  std::error_code none;
  const auto bind = [&](const std::string& path, const std::vector<std::string>& options) {
    const fs::path source = fs::canonical(path, none);
    if (!none) mounts.push_back(mount(source, path, "bind", options));
  };
  for (const std::string_view path : sandbox::kSystemDirectories) bind(std::string(path), read);
  for (const std::string_view path : sandbox::kSystemConfiguration) bind(std::string(path), read);
  for (const auto& [path, access] : places_of(plan, places)) {
    bind(path, access == Access::read ? read : write);
  }
  return mounts;
}

Json limits_of(const BackendLimits& limits) {
  return object(
      {{"memory", object({{"limit", limits.memory_bytes}, {"swap", limits.memory_bytes}})},
       {"pids", object({{"limit", std::uint64_t{limits.processes}}})},
       {"devices", JsonArray{object({{"allow", false}, {"access", "rwm"}})}}});
}

Json rlimit(const char* type, std::uint64_t value) {
  return object({{"type", type}, {"hard", value}, {"soft", value}});
}

Json process_of(const sandbox::SandboxPlan& plan, const std::vector<std::string>& argv,
                const std::vector<std::string>& environment) {
  struct stat owner{};
  ::stat((plan.write_roots.empty() ? plan.working_directory : plan.write_roots.front()).c_str(),
         &owner);
  return object(
      {{"terminal", false},
       {"user",
        object({{"uid", std::uint64_t{owner.st_uid}}, {"gid", std::uint64_t{owner.st_gid}}})},
       {"args", list(argv)},
       {"env", list(environment)},
       {"cwd", plan.working_directory},
       {"capabilities",
        object(
            {{"bounding", JsonArray{}}, {"effective", JsonArray{}}, {"permitted", JsonArray{}}})},
       {"rlimits",
        JsonArray{rlimit("RLIMIT_CORE", 0), rlimit("RLIMIT_FSIZE", plan.limits.disk_bytes)}},
       {"noNewPrivileges", true}});
}

Json namespaces_of(NetworkAccess network) {
  JsonArray namespaces;
  for (const char* type : {"pid", "mount", "ipc", "uts"}) {
    namespaces.push_back(object({{"type", type}}));
  }
  if (network != NetworkAccess::full) namespaces.push_back(object({{"type", "network"}}));
  return namespaces;
}

// runc was killed and cannot do it itself.
void remove_groups(const std::string& id) {
  std::error_code none;
  std::vector<fs::path> groups = {fs::path(kGroups) / id};
  for (const auto& entry : fs::directory_iterator(kGroups, none)) {
    groups.push_back(entry.path() / id);
  }
  for (const fs::path& group : groups) {
    for (int attempt = 0; attempt < kRemovalsMax && ::rmdir(group.c_str()) != 0; ++attempt) {
      if (errno != EBUSY) break;
      ::poll(nullptr, 0, 5);
    }
  }
}

}  // namespace

void sweep_containers() {
  std::error_code none;
  sandbox::sweep_directories(sandbox::kBundleDirectory);
  sandbox::sweep_groups(std::string(kGroups));
  for (const auto& entry : fs::directory_iterator(kGroups, none)) {
    if (entry.is_directory(none)) sandbox::sweep_groups(entry.path());
  }
}

Status check_runc() {
  if (find_runc().empty()) {
    return Error{ErrorCode::unavailable,
                 "no container: runc is not installed (apt-get install runc, or use `namespace`)"};
  }
  if (::geteuid() != 0) {
    return Error{ErrorCode::unavailable,
                 "no container: runc needs root here (use `namespace`, which does not)"};
  }
  return ok();
}

Result<std::unique_ptr<ContainerBundle>> ContainerBundle::make(
    const sandbox::SandboxPlan& plan, const std::vector<sandbox::ProtectedPlace>& places,
    const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  PAWL_TRY(auto own, sandbox::OwnDirectory::make(sandbox::kBundleDirectory));
  const std::string directory = own.path();
  std::unique_ptr<ContainerBundle> made(
      new ContainerBundle(std::move(own), sandbox::unique_group_name()));
  std::error_code none;
  fs::create_directory(directory + "/rootfs", none);
  const Json config = object({{"ociVersion", "1.0.2"},
                              {"process", process_of(plan, argv, environment)},
                              {"root", object({{"path", "rootfs"}, {"readonly", true}})},
                              {"hostname", "pawl"},
                              {"mounts", mounts_of(plan, places)},
                              {"linux", object({{"cgroupsPath", "/" + made->id_},
                                                {"namespaces", namespaces_of(plan.network)},
                                                {"resources", limits_of(plan.limits)}})}});
  std::ofstream file(directory + "/config.json");
  file << write_json(config);
  if (!file.flush())
    return Error{ErrorCode::unavailable, "no container: its bundle was not written"};
  return made;
}

std::vector<std::string> ContainerBundle::command() const {
  return {"unshare",
          "--pid",
          "--fork",
          "--kill-child",
          "--mount-proc",
          "--",
          find_runc(),
          "--root",
          directory_.path() + "/state",
          "run",
          "--bundle",
          directory_.path(),
          id_};
}

std::uint64_t ContainerBundle::memory_kills() const {
  for (const std::string& path : {"/sys/fs/cgroup/memory/" + id_ + "/memory.oom_control",
                                  "/sys/fs/cgroup/" + id_ + "/memory.events"}) {
    std::ifstream file(path);
    std::string word;
    std::uint64_t value = 0;
    while (file >> word >> value) {
      if (word == "oom_kill") return value;
    }
  }
  return 0;
}

ContainerBundle::~ContainerBundle() {
  remove_groups(id_);
}

}  // namespace pawl::backend
