#include "pawl/adapter/backend/session/container_bundle.h"

#include <sys/stat.h>

#include <fstream>
#include <utility>

#include "pawl/adapter/backend/sandbox/cgroup.h"
#include "pawl/adapter/backend/sandbox/own_directory.h"
#include "pawl/adapter/backend/sandbox/seccomp_profile.h"
#include "pawl/json.h"

namespace pawl::backend {
namespace {

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

// A device on a mount without devices cannot be opened.
Json mask(const ContainerMount& made, const std::vector<std::string>& read) {
  using Kind = ContainerMount::Kind;
  if (made.kind == Kind::other) return mount("/dev/null", made.path, "bind", read);
  const char* mode = made.kind == Kind::passage ? "mode=0111" : "mode=0000";
  return mount("tmpfs", made.path, "tmpfs", {"nosuid", "nodev", "noexec", mode, "size=64k"});
}

Json list_mounts(const ContainerPlan& plan) {
  const std::vector<std::string> read = {"rbind", "ro", "nosuid", "nodev"};
  const std::vector<std::string> write = {"rbind", "rw", "nosuid", "nodev"};
  const std::string size = "size=" + std::to_string(plan.sandbox.limits.memory_bytes);
  JsonArray mounts = {
      mount("proc", "/proc", "proc", {"ro", "nosuid", "nodev", "noexec"}),
      mount("tmpfs", "/dev", "tmpfs", {"nosuid", "mode=755", "size=64k"}),
      mount("tmpfs", "/tmp", "tmpfs", {"nosuid", "nodev", "mode=1777", size}),
  };
  for (const ContainerMount& made : mounts_of(plan)) {
    if (made.access == ContainerMount::Access::hidden) {
      mounts.push_back(mask(made, read));
      continue;
    }
    const bool read_only = made.access == ContainerMount::Access::read;
    mounts.push_back(mount(made.source, made.path, "bind", read_only ? read : write));
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

Json process_of(const ContainerPlan& plan) {
  const ContainerUser owner = user_of(plan.sandbox);
  return object(
      {{"terminal", false},
       {"user", object({{"uid", std::uint64_t{owner.user}}, {"gid", std::uint64_t{owner.group}}})},
       {"args", list(plan.argv)},
       {"env", list(plan.environment)},
       {"cwd", plan.sandbox.working_directory},
       {"capabilities",
        object(
            {{"bounding", JsonArray{}}, {"effective", JsonArray{}}, {"permitted", JsonArray{}}})},
       {"rlimits", JsonArray{rlimit("RLIMIT_CORE", 0),
                             rlimit("RLIMIT_FSIZE", plan.sandbox.limits.disk_bytes)}},
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

class Bundle final : public Container {
 public:
  explicit Bundle(sandbox::OwnDirectory directory)
      : directory_(std::move(directory)), id_(sandbox::unique_group_name()) {}
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;
  ~Bundle() override { remove_groups(id_); }

  Status write(const ContainerPlan& plan) const;
  // runc itself leaves its container running when it is killed.
  std::vector<std::string> command() const override {
    return tied_to_host({find_program("runc"), "--root", directory_.path() + "/state", "run",
                         "--bundle", directory_.path(), id_});
  }
  std::uint64_t memory_kills() const override { return memory_kills_of(id_); }

 private:
  sandbox::OwnDirectory directory_;
  std::string id_;
};

Status Bundle::write(const ContainerPlan& plan) const {
  ::mkdir((directory_.path() + "/rootfs").c_str(), 0755);
  const Json config = object({{"ociVersion", "1.0.2"},
                              {"process", process_of(plan)},
                              {"root", object({{"path", "rootfs"}, {"readonly", true}})},
                              {"hostname", "pawl"},
                              {"mounts", list_mounts(plan)},
                              {"linux", object({{"cgroupsPath", "/" + id_},
                                                {"namespaces", namespaces_of(plan.sandbox.network)},
                                                {"seccomp", sandbox::seccomp_profile()},
                                                {"resources", limits_of(plan.sandbox.limits)}})}});
  std::ofstream file(directory_.path() + "/config.json");
  file << write_json(config);
  if (file.flush()) return ok();
  return Error{ErrorCode::unavailable, "no container: its bundle was not written"};
}

}  // namespace

Result<std::unique_ptr<Container>> make_bundle(const ContainerPlan& plan) {
  PAWL_TRY(auto directory, sandbox::OwnDirectory::make(sandbox::kBundleDirectory));
  auto made = std::make_unique<Bundle>(std::move(directory));
  PAWL_CHECK(made->write(plan));
  return std::unique_ptr<Container>(std::move(made));
}

}  // namespace pawl::backend
