// The last steps of a process before it becomes a command: limits, user, capabilities, Landlock,
// seccomp. Runs in the child on the host's memory.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "pawl/adapter/backend/sandbox/namespaces.h"
#include "pawl/backend.h"

namespace pawl::sandbox {

struct LimitValue {
  int resource = 0;
  std::uint64_t value = 0;
};
inline constexpr std::size_t kLimitsMax = 8;
inline constexpr std::size_t kDoorsMax = 4;

enum class ChildStage : std::uint8_t {
  prepare,
  cgroup,
  namespaces,
  proc,
  working_directory,
  identity,
  privileges,
  landlock,
  seccomp,
  execute,
};

// All made beforehand; the child writes `stage`, `error` and `inner`. Plain arrays: the functions
// of std::array could be compiled with a sanitizer's notes, which must not be taken in a child.
struct ChildLaunch {
  const char* const* argv = nullptr;  // this one and the next two end with a null pointer
  const char* const* environment = nullptr;
  const char* const* candidates = nullptr;
  const char* working_directory = nullptr;
  int stdio[3] = {-1, -1, -1};
  int host = -1;     // pidfd of the host: readable when it is dead
  int ruleset = -1;  // Landlock's
  const sock_fprog* filter = nullptr;
  int spaces[kNamespaces] = {-1, -1, -1, -1, -1, -1};
  int doors[kDoorsMax] = {-1, -1, -1, -1};
  LimitValue limits[kLimitsMax] = {};
  std::size_t limit_count = 0;
  IsolationLevel level = IsolationLevel::none;
  bool own_proc = false;
  bool drop_identity = false;  // at the level landlock
  uid_t user = 0;
  gid_t group = 0;
  void* inner_stack = nullptr;  // its top
  volatile ChildStage stage = ChildStage::prepare;
  volatile int error = 0;
  volatile pid_t inner = 0;  // the process that becomes the command, if another one
};

// For clone(): at the level `namespaces` the first enters them and makes a second, which becomes
// the command; otherwise it becomes the command itself.
int run_confined_child(void* launch);

}  // namespace pawl::sandbox
