#include "pawl/adapter/backend/sandbox/host_identity.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pawl/adapter/backend/sandbox/id_map.h"
#include "pawl/base/link_free_path.h"

namespace pawl::sandbox {
namespace {

using Change = HostIdentity::Change;

constexpr unsigned kRecursive = 0x8000;  // AT_RECURSIVE

// A copy of the mount of `place` that is attached nowhere yet. With `ids`, shown as that user
// namespace maps it.
Descriptor clone_mount(const Descriptor& place, const Descriptor* ids) {
  Descriptor tree(static_cast<int>(
      ::syscall(SYS_open_tree, place.number(), "",
                OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | kRecursive)));
  if (!tree || ids == nullptr) return tree;
  struct mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<__u64>(ids->number());
  const long mapped = ::syscall(SYS_mount_setattr, tree.number(), "", AT_EMPTY_PATH | kRecursive,
                                &attributes, sizeof attributes);
  return mapped == 0 ? std::move(tree) : Descriptor();
}

// All roots or none: half of them as somebody else would be a riddle to the tool.
bool add_mounts(const SandboxPlan& plan, HostIdentity& identity) {
  std::optional<Descriptor> ids;
  const auto add = [&](const Descriptor& source, const std::string& target) {
    struct stat status{};
    if (!source || ::fstat(source.number(), &status) != 0) return false;
    const bool of_root = status.st_uid == 0;
    if (of_root && !ids) {
      auto made = make_user_namespace({0, identity.user}, {0, identity.group});
      if (!made) return false;
      ids = *std::move(made);
    }
    Descriptor tree = clone_mount(source, of_root ? &*ids : nullptr);
    if (!tree) return false;
    identity.mounts.push_back({target, tree.number()});
    identity.held.push_back(std::move(tree));
    return true;
  };
  for (const auto* roots : {&plan.read_roots, &plan.write_roots}) {
    for (const std::string& root : *roots) {
      const auto place = open_link_free(root, O_PATH);
      if (!place || !add(*place, root)) return false;
    }
  }
  return std::ranges::all_of(plan.mounts, [&](const PlanMount& wanted) {
    return add(Descriptor(::open(wanted.source.c_str(), O_PATH | O_CLOEXEC)), wanted.target);
  });
}

}  // namespace

HostIdentity choose_identity(const SandboxPlan& plan) {
  HostIdentity own{::geteuid(), ::getegid(), Change::none, {}, {}};
  if (own.user != 0) return own;
  const std::string& place =
      plan.write_roots.empty() ? plan.working_directory : plan.write_roots.front();
  struct stat status{};
  if (::stat(place.c_str(), &status) != 0) return own;
  HostIdentity other{status.st_uid, status.st_gid, Change::drop, {}, {}};
  const bool of_root = status.st_uid == 0;
  if (of_root) other.user = other.group = kUnprivilegedId;
  // Without a mount namespace there is nobody to show root's files as somebody else's.
  if (plan.level != IsolationLevel::namespaces) return of_root ? std::move(own) : std::move(other);
  if (add_mounts(plan, other)) return other;
  return own;
}

Status check_owner(const SandboxPlan& plan, const HostIdentity& identity) {
  if (identity.user != 0 || plan.write_roots.empty()) return ok();
  return Error{ErrorCode::unavailable,
               "no sandbox: as root, `landlock` needs a workspace that is not root's, and " +
                   plan.write_roots.front() +
                   " is (run as an ordinary user, or chown it, or use `namespace`)"};
}

}  // namespace pawl::sandbox
