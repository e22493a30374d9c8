#include "pawl/adapter/backend/sandbox/confined_child.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cerrno>
#include <csignal>

#include "pawl/adapter/backend/sandbox/child_syscalls.h"

extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);  // NOLINT

namespace pawl::sandbox {
namespace {

constexpr int kSignalMax = 64;
constexpr int kCapabilitiesMax = 64;
constexpr unsigned long kProcFlags = 1 | 2 | 4 | 8;  // read-only, nosuid, nodev, noexec

PAWL_IN_CHILD int fail(ChildLaunch& launch, ChildStage stage, long error) {
  launch.stage = stage;
  launch.error = static_cast<int>(-error);
  system_call(SYS_exit, 127);
  return 127;
}

PAWL_IN_CHILD void reset_signals() {
  const unsigned long by_default[8] = {};  // the kernel's struct sigaction: SIG_DFL
  const std::uint64_t none = 0;
  for (int signal = 1; signal <= kSignalMax; ++signal) {
    system_call(SYS_rt_sigaction, signal, word(by_default), 0, sizeof none);
  }
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&none), 0, sizeof none);
}

PAWL_IN_CHILD long set_limits(const ChildLaunch& launch) {
  for (std::size_t i = 0; i < launch.limit_count; ++i) {
    const LimitValue& limit = launch.limits[i];
    const std::uint64_t soft_and_hard[2] = {limit.value, limit.value};
    const long set = system_call(SYS_prlimit64, 0, limit.resource, word(soft_and_hard), 0);
    if (set < 0) return set;
  }
  return 0;
}

PAWL_IN_CHILD long drop_capabilities() {
  for (int capability = 0; capability < kCapabilitiesMax; ++capability) {
    if (system_call(SYS_prctl, PR_CAPBSET_DROP, capability) == -EINVAL) break;
  }
  system_call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  // Not even root's number would get any back at execve(). Without CAP_SETPCAP there are none.
  system_call(SYS_prctl, PR_SET_SECUREBITS,
              SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                  SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  const long dropped = system_call(SYS_capset, word(&header), word(none));
  if (dropped < 0) return dropped;
  return system_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1);
}

PAWL_IN_CHILD long drop_identity(const ChildLaunch& launch) {
  if (!launch.drop_identity) return 0;
  if (const long groups = system_call(SYS_setgroups, 0, 0); groups < 0) return groups;
  const long group = system_call(SYS_setresgid, launch.group, launch.group, launch.group);
  return group < 0 ? group : system_call(SYS_setresuid, launch.user, launch.user, launch.user);
}

// The host may have died before it was asked for, and then no signal will ever come.
PAWL_IN_CHILD long tie_to_host(const ChildLaunch& launch) {
  const long tied = system_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (tied < 0) return tied;
  pollfd host{launch.host, POLLIN, 0};
  const std::int64_t at_once[2] = {0, 0};
  return system_call(SYS_ppoll, word(&host), 1, word(at_once), 0, 0) == 0 ? 0 : -ESRCH;
}

PAWL_IN_CHILD long set_up_stdio(const ChildLaunch& launch) {
  for (int target = 0; target < 3; ++target) {
    const long moved = system_call(SYS_dup3, launch.stdio[target], target, 0);
    if (moved < 0) return moved;
  }
  return 0;
}

// Like execvpe(): a candidate that cannot be used does not end the search.
PAWL_IN_CHILD long exec_first(const ChildLaunch& launch) {
  long error = -ENOENT;
  for (const char* const* path = launch.candidates; *path != nullptr; ++path) {
    const long result =
        system_call(SYS_execve, word(*path), word(launch.argv), word(launch.environment));
    if (result != -ENOENT && result != -ENOTDIR && result != -EACCES) return result;
    if (result == -EACCES) error = -EACCES;
  }
  return error;
}

PAWL_IN_CHILD int confine_and_execute(ChildLaunch& launch) {
  const bool confined = launch.level != IsolationLevel::none;
  long result = set_limits(launch);
  if (result < 0) return fail(launch, ChildStage::prepare, result);
  result = drop_identity(launch);
  if (result < 0) return fail(launch, ChildStage::identity, result);
  result = launch.working_directory == nullptr
               ? 0
               : system_call(SYS_chdir, word(launch.working_directory));
  if (result < 0) return fail(launch, ChildStage::working_directory, result);
  result = confined ? drop_capabilities() : 0;
  if (result < 0) return fail(launch, ChildStage::privileges, result);
  result = tie_to_host(launch);
  if (result >= 0) result = set_up_stdio(launch);
  if (result < 0) return fail(launch, ChildStage::prepare, result);
  // Without a ruleset the namespaces hold alone, see landlock_rules.h.
  const bool ruled = confined && launch.ruleset >= 0;
  result = ruled ? system_call(SYS_landlock_restrict_self, launch.ruleset, 0) : 0;
  if (result < 0) return fail(launch, ChildStage::landlock, result);
  result = system_call(SYS_close_range, 3, ~0U, 0);
  if (result < 0) return fail(launch, ChildStage::prepare, result);
  reset_signals();
  result = confined ? system_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, word(launch.filter)) : 0;
  if (result < 0) return fail(launch, ChildStage::seccomp, result);
  return fail(launch, ChildStage::execute, exec_first(launch));
}

PAWL_IN_CHILD int run_inner(void* argument) {
  ChildLaunch& launch = *static_cast<ChildLaunch*>(argument);
  system_call(SYS_setsid);
  if (launch.own_proc) {
    const long mounted = system_call(SYS_mount, word("proc"), word("/proc"), word("proc"),
                                     static_cast<long>(kProcFlags), 0);
    if (mounted < 0) return fail(launch, ChildStage::proc, mounted);
  }
  return confine_and_execute(launch);
}

PAWL_IN_CHILD long enter_namespaces(const ChildLaunch& launch) {
  // Only root may; for others the user namespace has made it impossible to use them anyway.
  system_call(SYS_setgroups, 0, 0);
  for (std::size_t i = 0; i < kNamespaces; ++i) {
    const int space = launch.spaces[i];
    const long entered = space < 0 ? 0 : system_call(SYS_setns, space, 0);
    if (entered < 0) return entered;
  }
  const long group = system_call(SYS_setresgid, kInsideId, kInsideId, kInsideId);
  return group < 0 ? group : system_call(SYS_setresuid, kInsideId, kInsideId, kInsideId);
}

PAWL_IN_CHILD int run_outer(ChildLaunch& launch) {
  const long entered = enter_namespaces(launch);
  if (entered < 0) return fail(launch, ChildStage::namespaces, entered);
  // A child of the host, not of this process, which is about to end.
  launch.inner =
      ::__clone(&run_inner, launch.inner_stack,
                CLONE_VM | CLONE_VFORK | CLONE_PARENT | CLONE_NEWPID | CLONE_NEWNS, &launch);
  if (launch.inner < 0) return fail(launch, ChildStage::namespaces, -errno);
  system_call(SYS_exit, 0);
  return 0;
}

}  // namespace

PAWL_IN_CHILD int run_confined_child(void* argument) {
  ChildLaunch& launch = *static_cast<ChildLaunch*>(argument);
  for (std::size_t i = 0; i < kDoorsMax; ++i) {
    const int door = launch.doors[i];
    const long joined = door < 0 ? 0 : system_call(SYS_write, door, word("0"), 1);
    if (joined < 0) return fail(launch, ChildStage::cgroup, joined);
  }
  if (launch.level == IsolationLevel::namespaces) return run_outer(launch);
  system_call(SYS_setsid);
  return confine_and_execute(launch);
}

}  // namespace pawl::sandbox
