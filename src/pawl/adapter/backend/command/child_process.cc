#include "pawl/adapter/backend/command/child_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "pawl/adapter/backend/command/guardian.h"
#include "pawl/adapter/backend/command/start_failure.h"
#include "pawl/base/program_path.h"

// glibc's clone() under its other name. ThreadSanitizer intercepts clone() and takes every child
// for a fork, one that shares its memory included, and its own state is ruined by that.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);  // NOLINT

namespace pawl::tool_command {
namespace {

constexpr std::size_t kChildStackBytes = std::size_t{64} << 10U;
constexpr std::size_t kPipeBytesDefault = std::size_t{64} << 10U;
constexpr int kSignalMax = 64;

// What the child needs, all made beforehand: it may allocate nothing. It writes back where it
// failed, which the host can read because both share their memory until the child has become the
// command.
struct Launch {
  const char* const* argv = nullptr;  // this one and the next two end with a null pointer
  const char* const* environment = nullptr;
  const char* const* candidates = nullptr;  // paths to try, in this order
  const char* working_directory = nullptr;
  int stdio[3] = {-1, -1, -1};
  int sealed = -1;
  pid_t host = 0;
  std::uint64_t mark = 0;
  volatile StartStage stage = StartStage::prepare;
  volatile int error = 0;
};

#define PAWL_IN_CHILD                                                            \
  __attribute__((no_sanitize("address"))) __attribute__((no_sanitize("thread"))) \
  __attribute__((no_sanitize("undefined")))

// From here to run_child(): in the child, on the host's memory. System calls only, and directly:
// sanitizers intercept the functions of libc and would note them down as done by the host.

PAWL_IN_CHILD void set_limit(int resource, std::uint64_t value) {
  const std::uint64_t soft_and_hard[2] = {value, value};
  ::syscall(SYS_prlimit64, 0, resource, soft_and_hard, nullptr);
}

PAWL_IN_CHILD void reset_signals() {
  const unsigned long by_default[8] = {};  // the kernel's struct sigaction: SIG_DFL
  const std::uint64_t none = 0;
  for (int signal = 1; signal <= kSignalMax; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, by_default, nullptr, sizeof none);
  }
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
}

PAWL_IN_CHILD bool set_up_stdio(const Launch& launch) {
  for (int target = 0; target < 3; ++target) {
    // The source is never below 3, so nothing is overwritten that is still needed.
    if (::syscall(SYS_dup3, launch.stdio[target], target, 0) < 0) return false;
  }
  if (launch.sealed < 0) return ::syscall(SYS_close_range, 3U, ~0U, 0U) == 0;
  return ::syscall(SYS_dup3, launch.sealed, 3, 0) == 3 &&
         ::syscall(SYS_close_range, 4U, ~0U, 0U) == 0;
}

// Like execvpe(): a candidate that cannot be used does not end the search.
PAWL_IN_CHILD int exec_first(const Launch& launch) {
  int error = ENOENT;
  for (const char* const* path = launch.candidates; *path != nullptr; ++path) {
    ::syscall(SYS_execve, *path, launch.argv, launch.environment);
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
    if (errno == EACCES) error = EACCES;
  }
  return error;
}

PAWL_IN_CHILD int fail_child(Launch& launch, StartStage stage, int error) {
  launch.stage = stage;
  launch.error = error;
  ::syscall(SYS_exit, 127);
  return 127;
}

PAWL_IN_CHILD int run_child(void* argument) {
  Launch& launch = *static_cast<Launch*>(argument);
  ::syscall(SYS_setsid);
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // The host may have died before the line above, and then no signal will ever come.
  if (::syscall(SYS_getppid) != launch.host) return fail_child(launch, StartStage::prepare, ESRCH);
  if (!set_up_stdio(launch)) return fail_child(launch, StartStage::prepare, errno);
  if (launch.working_directory != nullptr && ::syscall(SYS_chdir, launch.working_directory) != 0) {
    return fail_child(launch, StartStage::working_directory, errno);
  }
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_LOCKS, launch.mark);
  reset_signals();
  return fail_child(launch, StartStage::execute, exec_first(launch));
}

// Signals are held back while the child runs on our memory: a handler of the host would run in it.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    const std::uint64_t all = ~std::uint64_t{0};
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() {
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }

 private:
  std::uint64_t before_ = 0;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// Descriptors from 3 on, also for a host that has closed its standard ones: the child could not
// move them into place otherwise without overwriting one it still needs.
Descriptor above_stdio(int number) {
  Descriptor fd(number);
  if (number < 0 || number > 2) return fd;
  return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, 3));
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  const int made = ::pipe2(ends.data(), O_CLOEXEC);
  Pipe pipe{above_stdio(ends[0]), above_stdio(ends[1])};
  if (made != 0 || !pipe.read || !pipe.write) return describe_resource_failure("a pipe", errno);
  return pipe;
}

void make_nonblocking(const Descriptor& fd) {
  ::fcntl(fd.number(), F_SETFL, ::fcntl(fd.number(), F_GETFL) | O_NONBLOCK);
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

// What is wrong with a plan; null: nothing.
const char* find_fault(const ChildPlan& plan) {
  if (plan.argv.empty() || plan.argv.front().empty()) return "the command is empty";
  if (std::any_of(plan.argv.begin(), plan.argv.end(), has_nul)) {
    return "an argument of the command contains a NUL byte";
  }
  if (std::any_of(plan.environment.begin(), plan.environment.end(), has_nul)) {
    return "an environment variable contains a NUL byte";
  }
  if (has_nul(plan.working_directory)) return "the working directory contains a NUL byte";
  return nullptr;
}

// How much of it the pipe has taken.
std::size_t fill_pipe(const Descriptor& pipe, std::string_view input) {
  const std::size_t wanted = std::min(input.size(), kInputBytesBefore);
  // More than the system allows leaves the pipe as it is: then less is sent before.
  if (wanted > kPipeBytesDefault) ::fcntl(pipe.number(), F_SETPIPE_SZ, static_cast<int>(wanted));
  std::size_t sent = 0;
  while (sent < wanted) {
    const ssize_t count = ::write(pipe.number(), input.data() + sent, wanted - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  return sent;
}

// Returns when the child has become the command, or has failed to.
Status launch_child(Launch& launch, Child& child, const ChildPlan& plan) {
  const auto stack = std::make_unique<std::array<std::byte, kChildStackBytes>>();
  const auto top = (reinterpret_cast<std::uintptr_t>(stack->data()) + kChildStackBytes) & ~15UL;
  int handle = -1;
  {
    const AllSignalsBlocked blocked;
    child.pid = ::__clone(&run_child, reinterpret_cast<void*>(top),  // NOLINT
                          CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &launch, &handle);
  }
  if (child.pid < 0) return describe_resource_failure("a process", errno);
  child.handle.reset(handle);
  if (launch.error == 0) return ok();
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED) < 0 && errno == EINTR) {
  }
  return describe_start_failure(plan, launch.stage, launch.error);
}

}  // namespace

Result<Child> start_child(const ChildPlan& plan) {
  if (const char* fault = find_fault(plan)) return Error{ErrorCode::invalid_argument, fault};
  PAWL_CHECK(check_ends_are_told());
  PAWL_TRY(Pipe input, make_pipe());
  PAWL_TRY(Pipe output, make_pipe());
  PAWL_TRY(Pipe errors, make_pipe());
  const auto candidates = plan.sealed < 0
                              ? program_candidates(plan.argv.front(), find_path(plan.environment))
                              : std::vector<std::string>{"/proc/self/fd/3"};
  auto environment = plan.environment;
  environment.push_back(std::string(kMarkVariable) + "=" + plan.mark.text);
  const auto argv_pointers = exec_pointers(plan.argv);
  const auto environment_pointers = exec_pointers(environment);
  const auto candidate_pointers = exec_pointers(candidates);
  Launch launch{argv_pointers.data(), environment_pointers.data(), candidate_pointers.data()};
  if (!plan.working_directory.empty()) launch.working_directory = plan.working_directory.c_str();
  launch.stdio[0] = input.read.number();
  launch.stdio[1] = output.write.number();
  launch.stdio[2] = errors.write.number();
  launch.sealed = plan.sealed;
  launch.host = ::getpid();
  launch.mark = plan.mark.limit;
  Child child{0, Descriptor(), std::move(input.write), std::move(output.read),
              std::move(errors.read)};
  for (const Descriptor* end : {&child.input, &child.output, &child.errors}) make_nonblocking(*end);
  child.input_sent = fill_pipe(child.input, plan.input);
  if (child.input_sent == plan.input.size() && !plan.input.empty()) child.input.reset();
  // Without one a command is as good; after a kill -9 its children would be on their own.
  static_cast<void>(ensure_guardian());
  PAWL_CHECK(launch_child(launch, child, plan));
  return child;
}

}  // namespace pawl::tool_command
