// System calls that no tool has a use for: the same list for our own filter and for containers.
#pragma once

#include <asm/ioctls.h>
#include <sys/ioctl.h>

#include <array>
#include <cstdint>

namespace pawl::sandbox {

// Each of them reaches into the kernel or into other processes further than a tool has to.
inline constexpr std::array kDenied = {"acct",
                                       "add_key",
                                       "adjtimex",
                                       "bpf",
                                       "chroot",
                                       "clock_adjtime",
                                       "clock_settime",
                                       "delete_module",
                                       "fanotify_init",
                                       "finit_module",
                                       "fsconfig",
                                       "fsmount",
                                       "fsopen",
                                       "fspick",
                                       "get_mempolicy",
                                       "init_module",
                                       "ioperm",
                                       "iopl",
                                       "io_uring_enter",
                                       "io_uring_register",
                                       "io_uring_setup",
                                       "kcmp",
                                       "kexec_file_load",
                                       "kexec_load",
                                       "keyctl",
                                       "lookup_dcookie",
                                       "mbind",
                                       "migrate_pages",
                                       "mount",
                                       "mount_setattr",
                                       "move_mount",
                                       "move_pages",
                                       "name_to_handle_at",
                                       "nfsservctl",
                                       "open_by_handle_at",
                                       "open_tree",
                                       "perf_event_open",
                                       "pidfd_getfd",
                                       "pivot_root",
                                       "process_madvise",
                                       "process_vm_readv",
                                       "process_vm_writev",
                                       "ptrace",
                                       "quotactl",
                                       "quotactl_fd",
                                       "reboot",
                                       "request_key",
                                       "set_mempolicy",
                                       "setdomainname",
                                       "sethostname",
                                       "setns",
                                       "settimeofday",
                                       "swapoff",
                                       "swapon",
                                       "syslog",
                                       "umount",
                                       "umount2",
                                       "unshare",
                                       "uselib",
                                       "userfaultfd",
                                       "vhangup",
                                       "modify_ldt",
                                       "set_mempolicy_home_node"};

// Denied as if the kernel did not have them, so that libc falls back to what can be checked:
// clone3 and openat2 keep their arguments in memory, where a filter cannot look.
inline constexpr std::array kUnknown = {"clone3", "openat2"};

struct ModeArgument {
  const char* name;
  unsigned argument;
};
// Where a mode with a setuid or setgid bit can be given.
inline constexpr std::array kModes = {ModeArgument{"chmod", 1},    ModeArgument{"fchmod", 1},
                                      ModeArgument{"fchmodat", 2}, ModeArgument{"creat", 1},
                                      ModeArgument{"open", 2},     ModeArgument{"openat", 3},
                                      ModeArgument{"mknod", 1},    ModeArgument{"mknodat", 2}};

inline constexpr int kNewestKnown = 462;  // mseal, Linux 6.10

// Requests to a terminal that put words into somebody's mouth, or take their output.
inline constexpr std::array kTerminalRequests = {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS};

// Requests to a file that are fallocate() by another name; in no header for programs.
struct SpaceRequest {  // the kernel's space_resv
  std::int16_t kind, whence;
  std::int64_t start, length;
  std::int32_t system;
  std::uint32_t process;
  std::int32_t rest[4];
};
inline constexpr std::uint64_t kReserve = _IOW('X', 40, SpaceRequest);
inline constexpr std::uint64_t kReserve64 = _IOW('X', 42, SpaceRequest);
inline constexpr std::uint64_t kZeroRange = _IOW('X', 57, SpaceRequest);
inline constexpr std::array kAllotmentRequests = {kReserve, kReserve64, kZeroRange};

}  // namespace pawl::sandbox
