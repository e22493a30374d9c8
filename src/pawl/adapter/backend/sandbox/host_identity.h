// Who a confined process is outside its namespaces. Never root, where there is a way.
//
// An ordinary host: itself. A host that is root: the owner of the working directory, if that is
// somebody else. If it is root's, an unprivileged number that owns nothing, and the roots are
// mounted with root's files shown as that number's (idmapped mounts: the disk still says root).
// Where the kernel or the file system cannot do that, root's number is kept, without a single
// capability, as 1000 inside.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/root_steps.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/base/descriptor.h"

namespace pawl::sandbox {

inline constexpr uid_t kInsideId = 1000;         // user and group inside a user namespace
inline constexpr uid_t kUnprivilegedId = 61999;  // outside, for a host that is root

struct HostIdentity {
  uid_t user = 0;
  gid_t group = 0;
  enum class Change : std::uint8_t { none, drop } change = Change::none;  // from the host's own
  std::vector<DetachedMount> mounts;  // their descriptors are in `held`
  std::vector<Descriptor> held;
};

// Of the first write root as it is held, or of the working directory.
struct stat owner_of(const SandboxPlan& plan);
HostIdentity choose_identity(const SandboxPlan& plan);
// At `landlock` root's own files cannot be written without being root. unavailable: with the
// remedy.
Status check_owner(const SandboxPlan& plan, const HostIdentity& identity);

}  // namespace pawl::sandbox
