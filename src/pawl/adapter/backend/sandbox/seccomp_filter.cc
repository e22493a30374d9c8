#include "pawl/adapter/backend/sandbox/seccomp_filter.h"

#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "pawl/adapter/backend/sandbox/seccomp_lists.h"
#include "pawl/base/descriptor.h"

namespace pawl::sandbox {
namespace {

constexpr std::size_t kProgramInstructionsMax = 4096;  // the kernel's BPF_MAXINSNS

// Landlock does not cover these, and without a mount namespace they reach every file of the user.
constexpr std::array kMetadata = {
    "chmod",     "fchmod",    "fchmodat",    "chown",        "fchown",      "lchown",
    "fchownat",  "utime",     "utimes",      "utimensat",    "futimesat",   "setxattr",
    "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"};
// Shared memory, queues and semaphores of whoever else runs as the same user: Landlock knows none
// of them, and what is made there stays when everybody has gone.
constexpr std::array kSystemV = {"shmget",     "shmat",   "shmctl",   "msgget", "msgsnd",
                                 "msgrcv",     "msgctl",  "semget",   "semop",  "semctl",
                                 "semtimedop", "mq_open", "mq_unlink"};
// They change another process of the same user, the host for one, if their first argument says so.
constexpr std::array kOtherProcess = {"prlimit64", "sched_setaffinity", "sched_setscheduler",
                                      "sched_setparam", "sched_setattr"};
constexpr std::uint64_t kExt4SetVersion = _IOW('f', 4, long);  // in no header
// Metadata by request, through a descriptor that may only read: flags, versions, seals, and what
// btrfs makes and removes without asking Landlock.
constexpr std::array<std::uint64_t, 13> kMetadataRequests = {
    FS_IOC_SETFLAGS,          FS_IOC_SETVERSION,          kExt4SetVersion,
    FS_IOC_FSSETXATTR,        FS_IOC_ENABLE_VERITY,       FS_IOC_SET_ENCRYPTION_POLICY,
    BTRFS_IOC_SUBVOL_CREATE,  BTRFS_IOC_SUBVOL_CREATE_V2, BTRFS_IOC_SNAP_CREATE,
    BTRFS_IOC_SNAP_CREATE_V2, BTRFS_IOC_SNAP_DESTROY,     BTRFS_IOC_SNAP_DESTROY_V2,
    BTRFS_IOC_SUBVOL_SETFLAGS};
constexpr int kFchmodat2 = 452;
constexpr int kDeniedUpTo = 600;  // no architecture has reached it by far

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW)) {}
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  ~Filter() {
    if (context_ != nullptr) ::seccomp_release(context_);
  }

  // A name that this architecture does not have needs no rule.
  void deny(const char* name, int error) {
    deny_number(::seccomp_syscall_resolve_name(name), error);
  }
  void deny_number(int number, int error) {
    if (number < 0) return;
    note(::seccomp_rule_add(context_, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), number, 0));
  }
  void deny_if(int number, int error, scmp_arg_cmp condition) {
    if (number < 0) return;
    note(::seccomp_rule_add_array(context_, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), number, 1,
                                  &condition));
  }
  void deny_if(const char* name, int error, scmp_arg_cmp condition) {
    deny_if(::seccomp_syscall_resolve_name(name), error, condition);
  }

  void deny_pair(const char* name, int error, scmp_arg_cmp first, scmp_arg_cmp second) {
    const std::array conditions = {first, second};
    note(::seccomp_rule_add_array(context_, SCMP_ACT_ERRNO(static_cast<unsigned>(error)),
                                  ::seccomp_syscall_resolve_name(name), 2, conditions.data()));
  }

  Result<SeccompProgram> compile();

 private:
  void note(int result) {
    // Another rule has denied the call as a whole already.
    if (result != 0 && result != -EEXIST && fault_ == 0) fault_ = result;
  }

  scmp_filter_ctx context_;
  int fault_ = 0;
};

Result<SeccompProgram> Filter::compile() {
  const Error error{ErrorCode::unavailable, "the seccomp filter could not be built (libseccomp)"};
  if (context_ == nullptr || fault_ != 0) return error;
  // As a tree: some hundred rules in a row would cost each system call half a microsecond.
  ::seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  // Calls of another architecture (i386, x32) have other numbers, which no rule here means.
  ::seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
  const Descriptor file(::memfd_create("pawl-seccomp", MFD_CLOEXEC));
  if (!file || ::seccomp_export_bpf(context_, file.number()) != 0) return error;
  const off_t bytes = ::lseek(file.number(), 0, SEEK_END);
  const auto count = static_cast<std::size_t>(bytes) / sizeof(sock_filter);
  if (bytes <= 0 || count > kProgramInstructionsMax) return error;
  SeccompProgram program(count);
  if (::pread(file.number(), program.data(), count * sizeof(sock_filter), 0) != bytes) return error;
  return program;
}

scmp_arg_cmp has_bit(unsigned argument, std::uint64_t bit) {
  return {argument, SCMP_CMP_MASKED_EQ, bit, bit};
}

// The kernel takes these as int: what is above 32 bits does not count.
scmp_arg_cmp low_half_is(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, 0xFFFF'FFFFU, value};
}

void deny_namespaces(Filter& filter) {
  for (const int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                         CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    filter.deny_if("clone", EPERM, has_bit(0, static_cast<std::uint64_t>(flag)));
  }
}

void deny_set_id_bits(Filter& filter) {
  for (const std::uint64_t bit : {std::uint64_t{S_ISUID}, std::uint64_t{S_ISGID}}) {
    for (const ModeArgument& mode : kModes) {
      filter.deny_if(mode.name, EPERM, has_bit(mode.argument, bit));
    }
    filter.deny_if(kFchmodat2, EPERM, has_bit(2, bit));
  }
}

// A process is tied to its host by the signal it gets when that dies. It may not be given up.
void deny_outliving(Filter& filter) {
  filter.deny_pair("prctl", EPERM, low_half_is(0, PR_SET_PDEATHSIG), {1, SCMP_CMP_NE, SIGKILL, 0});
}

// Space that is allotted without being written is in no account (/proc/PID/io). Libraries write
// zeros where a file system cannot do it.
void deny_allotment(Filter& filter) {
  filter.deny("fallocate", EOPNOTSUPP);
  for (const std::uint64_t request : kAllotmentRequests) {
    filter.deny_if("ioctl", EOPNOTSUPP, low_half_is(1, request));
  }
}

void deny_metadata(Filter& filter) {
  for (const char* name : kMetadata) filter.deny(name, EPERM);
  filter.deny_number(kFchmodat2, EPERM);
  for (const std::uint64_t request : kMetadataRequests) {
    filter.deny_if("ioctl", EPERM, low_half_is(1, request));
  }
}

// Without a pid namespace, a call's processes are known by a limit that nobody needs
// (process_tree.h).
void deny_losing_the_mark(Filter& filter) {
  filter.deny_if("setrlimit", EPERM, low_half_is(0, RLIMIT_LOCKS));
  filter.deny_pair("prlimit64", EPERM, low_half_is(1, RLIMIT_LOCKS), {2, SCMP_CMP_NE, 0, 0});
}

// Without a pid namespace, the processes of the same user are in reach.
void deny_other_processes(Filter& filter) {
  for (const char* name : kOtherProcess) {
    filter.deny_if(name, EPERM, {0, SCMP_CMP_NE, 0, 0});
  }
  constexpr std::uint64_t kIoOfProcess = 1;  // IOPRIO_WHO_PROCESS
  for (const auto& [name, one] :
       {std::pair{"setpriority", std::uint64_t{PRIO_PROCESS}}, {"ioprio_set", kIoOfProcess}}) {
    filter.deny_if(name, EPERM, {0, SCMP_CMP_NE, one, 0});
    filter.deny_if(name, EPERM, {1, SCMP_CMP_NE, 0, 0});
  }
}

// What is made there is in no process's account, and stays for as long as the session. As many as
// the kernel gives one namespace (4096 and 32,000), of this size, are 256 and some 130 MiB.
void deny_large_system_v(Filter& filter) {
  constexpr std::uint64_t kSegmentBytesMax = 64U << 10U;
  constexpr std::uint64_t kSemaphoresMax = 64;
  filter.deny_if("shmget", EINVAL, {1, SCMP_CMP_GT, kSegmentBytesMax, 0});
  filter.deny_if("semget", EINVAL, {1, SCMP_CMP_GT, kSemaphoresMax, 0});
}

void deny_terminal_input(Filter& filter) {
  for (const int request : kTerminalRequests) {
    filter.deny_if("ioctl", EPERM, low_half_is(1, static_cast<std::uint64_t>(request)));
  }
}

// Of socketpair() the kinds that are connected for good stay: both ends are the tool's own. One of
// datagrams can be sent, or connected, to any name.
void deny_loose_pairs(Filter& filter) {
  constexpr std::uint64_t kKinds = 0xF;  // of the type; what is above are flags
  for (std::uint64_t kind = 0; kind <= kKinds; ++kind) {
    if (kind == SOCK_STREAM || kind == SOCK_SEQPACKET) continue;
    filter.deny_if("socketpair", EPERM, {1, SCMP_CMP_MASKED_EQ, kKinds, kind});
  }
}

// A unix socket with a name can lead to a daemon that does things for its clients, whatever
// namespaces and Landlock say.
void deny_sockets(Filter& filter, IsolationLevel level, NetworkAccess network) {
  constexpr int kFamiliesMax = 64;
  // In a network namespace of its own, a tool may talk to itself.
  const bool inet = network != NetworkAccess::none || level == IsolationLevel::namespaces;
  const bool routes = network == NetworkAccess::full;  // getaddrinfo() asks for the addresses
  for (int family = 0; family < kFamiliesMax; ++family) {
    if (inet && (family == AF_INET || family == AF_INET6)) continue;
    if (routes && family == AF_NETLINK) continue;
    filter.deny_if("socket", EPERM, low_half_is(0, static_cast<std::uint64_t>(family)));
  }
  filter.deny_if("socket", EPERM, {0, SCMP_CMP_GE, kFamiliesMax, 0});
  // Of netlink only what getaddrinfo() needs; the others have had a hole a year.
  constexpr std::uint64_t kProtocolsMax = 64;
  for (std::uint64_t protocol = NETLINK_ROUTE + 1; routes && protocol < kProtocolsMax; ++protocol) {
    filter.deny_pair("socket", EPERM, low_half_is(0, AF_NETLINK), low_half_is(2, protocol));
  }
}

Result<SeccompProgram> build(IsolationLevel level, NetworkAccess network) {
  Filter filter;
  for (const char* name : kDenied) filter.deny(name, EPERM);
  for (const char* name : kUnknown) filter.deny(name, ENOSYS);
  for (int number = kNewestKnown + 1; number < kDeniedUpTo; ++number) {
    filter.deny_number(number, ENOSYS);
  }
  if (level == IsolationLevel::landlock) {
    deny_metadata(filter);
    for (const char* name : kSystemV) filter.deny(name, EPERM);
    deny_other_processes(filter);
    deny_losing_the_mark(filter);
  } else {
    deny_large_system_v(filter);
  }
  deny_namespaces(filter);
  deny_outliving(filter);
  deny_allotment(filter);
  deny_loose_pairs(filter);
  deny_set_id_bits(filter);
  deny_terminal_input(filter);
  deny_sockets(filter, level, network);
  return filter.compile();
}

}  // namespace

Result<std::shared_ptr<const SeccompProgram>> seccomp_program(IsolationLevel level,
                                                              NetworkAccess network) {
  static std::mutex mutex;
  static std::map<std::pair<IsolationLevel, NetworkAccess>, std::shared_ptr<const SeccompProgram>>
      programs;
  const std::lock_guard lock(mutex);
  auto& program = programs[{level, network}];
  if (!program) {
    PAWL_TRY(SeccompProgram built, build(level, network));
    program = std::make_shared<const SeccompProgram>(std::move(built));
  }
  return program;
}

}  // namespace pawl::sandbox
