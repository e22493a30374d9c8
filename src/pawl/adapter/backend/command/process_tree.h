// Finds and kills everything that a command has started, however it tried to get away.
//
// The host is made a child subreaper, so that an orphan of a command becomes a child of the host
// and not of init. A process belongs to a command when it is its root, shares the root's session or
// group, carries the command's mark, or descends from one that does. The mark is inherited in two
// ways: in the environment, and as RLIMIT_LOCKS, which Linux has not enforced since 2.4 but still
// hands down to every child; a daemon with a session and an environment of its own keeps it, and it
// can be read of a zombie. Children of the host application and of other commands have other marks.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::tool_command {

inline constexpr std::string_view kMarkVariable = "PAWL_CALL_MARK";
inline constexpr std::int64_t kKillTimeMaxMs = 900;  // Operation::abort() promises a second

struct TreeMark {
  std::uint64_t limit = 0;  // RLIMIT_LOCKS
  std::string text;         // PAWL_CALL_MARK: <host pid>.<its start>.<serial number>
};

// Unique among all marks of all hosts alive.
TreeMark make_tree_mark();

// All numbers that marks of this host have, now and later.
struct MarkRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
MarkRange marks_of_host();

struct ProcessTree {
  pid_t root = 0;  // a child of the host that nobody has reaped yet; 0 when its pid is not held
  TreeMark mark;
};

// A host that ignores SIGCHLD has its children reaped by the kernel, and how they ended is lost;
// their numbers are given to others while the host still holds them for its own.
Status check_ends_are_told();

// From now on orphans of the host's children become children of the host. It stays so: the host's
// own orphans do, too, and are left alone.
void adopt_orphans();

// Kills the tree and reaps what of it the host has adopted, but not the root, which the caller
// reaps. Returns the processes that were still alive after kKillTimeMaxMs, or of which nobody
// knows: in uninterruptible sleep, or running as another user.
std::vector<pid_t> kill_tree(const ProcessTree& tree);

// Kills what a host that is dead by now has left running for the same call: PR_SET_PDEATHSIG
// reaches the command itself, but not its children.
std::vector<pid_t> kill_leftovers(const std::string& run, const std::string& key);

}  // namespace pawl::tool_command
