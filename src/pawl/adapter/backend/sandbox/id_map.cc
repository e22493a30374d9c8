#include "pawl/adapter/backend/sandbox/id_map.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "pawl/adapter/backend/sandbox/child_syscalls.h"
#include "pawl/adapter/backend/sandbox/dumpable.h"
#include "pawl/base/describe_errno.h"

// See child_process.cc: the name that ThreadSanitizer does not intercept.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);  // NOLINT

namespace pawl::sandbox {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10U;

Error describe(const std::string& what, int error) {
  return {ErrorCode::unavailable, what + ": " + describe_errno(error)};
}

Status write_map(pid_t child, const char* name, const std::string& text) {
  const std::string path = "/proc/" + std::to_string(child) + "/" + name;
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file &&
      ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    return ok();
  }
  return describe(path, errno);
}

std::string map_line(IdPair pair) {
  return std::to_string(pair.inside) + " " + std::to_string(pair.outside) + " 1";
}

struct Waiting {
  int gate = -1;
  int host = -1;
};

PAWL_IN_CHILD int wait_at_gate(void* argument) {
  const Waiting& waiting = *static_cast<Waiting*>(argument);
  await_gate(waiting.gate, waiting.host);
  system_call(SYS_exit, 0);
  return 0;
}

}  // namespace

Descriptor open_own_process() {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
}

PAWL_IN_CHILD long await_gate(int gate, int host) {
  pollfd ready[2] = {{gate, POLLIN, 0}, {host, POLLIN, 0}};
  const long polled = system_call(SYS_ppoll, word(ready), 2, 0, 0, 0);
  if (polled < 0) return polled;
  if (ready[1].revents != 0) return -ESRCH;
  char byte = 0;
  if (system_call(SYS_read, gate, word(&byte), 1) != 1) return -ECANCELED;
  return byte;
}

int SharedChild::start(Main main, void* argument, unsigned long flags) {
  stack_ = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack_ == MAP_FAILED) {
    stack_ = nullptr;
    return ENOMEM;
  }
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  // A handler of the host must not run in the child; it keeps this mask to its end.
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  char* top = static_cast<char*>(stack_) + kStackBytes;
  const int pid =
      ::__clone(main, top, static_cast<int>(flags) | CLONE_VM | CLONE_FILES | SIGCHLD, argument);
  const int error = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  if (pid < 0) return error;
  pid_ = pid;
  return 0;
}

void SharedChild::await_end() {
  siginfo_t info{};
  while (pid_ > 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) < 0 &&
         errno == EINTR) {
  }
  pid_ = 0;
  if (stack_ != nullptr) ::munmap(std::exchange(stack_, nullptr), kStackBytes);
}

Status write_id_maps(pid_t child, IdPair user, IdPair group) {
  const DumpableKept dumpable(DumpableKept::Need::raised);
  PAWL_CHECK(write_map(child, "uid_map", map_line(user)));
  PAWL_CHECK(write_map(child, "setgroups", "deny"));
  return write_map(child, "gid_map", map_line(group));
}

Result<Descriptor> make_user_namespace(IdPair user, IdPair group) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return describe("no pipe", errno);
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const Descriptor host = open_own_process();
  if (!host) return describe("no descriptor", errno);
  Waiting waiting{ends[0], host.number()};
  SharedChild child;
  if (const int error = child.start(&wait_at_gate, &waiting, CLONE_NEWUSER); error != 0) {
    return describe("no user namespace", error);
  }
  const auto mapped = write_id_maps(child.pid(), user, group);
  const std::string path = "/proc/" + std::to_string(child.pid()) + "/ns/user";
  Descriptor space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  // Not by closing: the child has the same descriptors, and would hold the pipe open itself.
  [[maybe_unused]] const ssize_t let_go = ::write(write_end.number(), "x", 1);
  child.await_end();
  PAWL_CHECK(mapped);
  if (!space) return describe(path, error);
  return space;
}

}  // namespace pawl::sandbox
