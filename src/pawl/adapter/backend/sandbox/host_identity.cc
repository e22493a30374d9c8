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

namespace pawl::sandbox {
namespace {

using Change = HostIdentity::Change;

constexpr unsigned kRecursive = 0x8000;  // AT_RECURSIVE

// A copy of the mount of `place` that is attached nowhere yet. With `ids`, shown as that user
// namespace maps it.
Descriptor clone_mount(int place, const Descriptor* ids) {
  Descriptor tree(static_cast<int>(::syscall(
      SYS_open_tree, place, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | kRecursive)));
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
  const auto add = [&](int source, const std::string& target) {
    struct stat status{};
    if (source < 0 || ::fstat(source, &status) != 0) return false;
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
      if (!add(held_root(plan, root), root)) return false;
    }
  }
  return std::ranges::all_of(plan.mounts, [&](const PlanMount& wanted) {
    const Descriptor source(::open(wanted.source.c_str(), O_PATH | O_CLOEXEC));
    return add(source.number(), wanted.target);
  });
}

}  // namespace

struct stat owner_of(const SandboxPlan& plan) {
  struct stat status{};
  const int root = plan.write_roots.empty() ? -1 : held_root(plan, plan.write_roots.front());
  if (root >= 0) {
    ::fstat(root, &status);
  } else {
    ::stat(plan.working_directory.c_str(), &status);
  }
  return status;
}

HostIdentity choose_identity(const SandboxPlan& plan) {
  HostIdentity own{::geteuid(), ::getegid(), Change::none, {}, {}};
  if (own.user != 0) return own;
  const struct stat status = owner_of(plan);
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
