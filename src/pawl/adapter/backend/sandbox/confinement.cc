#include "pawl/adapter/backend/sandbox/confinement.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "pawl/adapter/backend/sandbox/confined_child.h"
#include "pawl/adapter/backend/sandbox/dumpable.h"
#include "pawl/adapter/backend/sandbox/landlock_rules.h"
#include "pawl/adapter/backend/sandbox/system_paths.h"
#include "pawl/adapter/backend/sandbox/user_tasks.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/program_path.h"

extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);  // NOLINT

namespace pawl::sandbox {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10U;
constexpr std::uint64_t kOpenFilesMax = 4096;
constexpr std::uint64_t kOtherTasksMore = 1024;  // that the user may start elsewhere meanwhile

// Two stacks: one for each of the processes that run on the host's memory for a moment.
class Stacks {
 public:
  Stacks()
      : memory_(::mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {}
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, 2 * kStackBytes);
  }
  bool exist() const { return memory_ != MAP_FAILED; }
  void* outer() const { return static_cast<char*>(memory_) + kStackBytes; }
  void* inner() const { return static_cast<char*>(memory_) + 2 * kStackBytes; }

 private:
  void* memory_;
};

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

Status check(const ProcessStart& start) {
  const auto bad = [](const std::string& what) { return Error{ErrorCode::invalid_argument, what}; };
  if (start.argv.empty() || start.argv.front().empty()) return bad("the command is empty");
  if (std::any_of(start.argv.begin(), start.argv.end(), has_nul)) {
    return bad("an argument of the command contains a NUL byte");
  }
  if (std::any_of(start.environment.begin(), start.environment.end(), has_nul)) {
    return bad("an environment variable contains a NUL byte");
  }
  return ok();
}

Error describe_failure(const ProcessStart& start, const ChildLaunch& launch) {
  const std::string what = "cannot start " + start.argv.front() + ": ";
  const std::string why = describe_errno(launch.error);
  switch (launch.stage) {
    case ChildStage::execute:
      return {ErrorCode::invalid_argument,
              what + why +
                  " (it must be a program that is installed in the system, or lies "
                  "beneath a root, and may be executed)"};
    case ChildStage::working_directory:
      return {ErrorCode::invalid_argument, what + "working directory " + start.working_directory +
                                               ": " + why + " (name one beneath the roots)"};
    case ChildStage::cgroup:
      return {ErrorCode::unavailable, what + "joining the control group: " + why};
    case ChildStage::namespaces:
      return {ErrorCode::unavailable, what + "entering the namespaces: " + why};
    case ChildStage::proc:
      return {ErrorCode::unavailable, what + "mounting /proc: " + why};
    case ChildStage::identity:
    case ChildStage::privileges:
      return {ErrorCode::unavailable, what + "dropping privileges: " + why};
    case ChildStage::landlock:
      return {ErrorCode::unavailable, what + "Landlock: " + why};
    case ChildStage::seccomp:
      return {ErrorCode::unavailable, what + "seccomp: " + why};
    case ChildStage::prepare:
      break;
  }
  return {ErrorCode::unavailable, what + "setting up the process: " + why + " (try again)"};
}

void reap(pid_t pid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) < 0 && errno == EINTR) {
  }
}

void add_limit(ChildLaunch& launch, int resource, std::uint64_t value) {
  // A hard limit of the host's own cannot be raised by those who are not root.
  struct rlimit own{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &own) == 0) {
    value = std::min<std::uint64_t>(value, own.rlim_max);
  }
  launch.limits[launch.limit_count++] = {resource, value};
}

// Counted by user namespace. Without one the kernel counts whatever else the user runs, and nothing
// of user 0: then it only keeps a fork bomb from taking all numbers of the machine before the
// session, which counts its own, has seen it.
std::uint64_t processes_bound(const SandboxPlan& plan) {
  if (plan.level == IsolationLevel::namespaces) return plan.limits.processes;
  return count_user_tasks(::geteuid()) + plan.limits.processes + kOtherTasksMore;
}

void add_limits(ChildLaunch& launch, const SandboxPlan& plan, const Cgroup& cgroup,
                std::uint64_t mark) {
  const BackendLimits& limits = plan.limits;
  launch.limits[launch.limit_count++] = {RLIMIT_CORE, 0};
  if (mark != 0) add_limit(launch, RLIMIT_LOCKS, mark);
  if (plan.level == IsolationLevel::none) return;
  // Of one process each; the session watches over the sum of them.
  // Where a control group bounds memory, it does so for what is used, not for what is asked for.
  if (!cgroup.bounds_memory()) add_limit(launch, RLIMIT_DATA, limits.memory_bytes);
  add_limit(launch, RLIMIT_FSIZE, limits.disk_bytes);
  add_limit(launch, RLIMIT_NOFILE, kOpenFilesMax);
  add_limit(launch, RLIMIT_NPROC, processes_bound(plan));
}

// Returns when the child has become the command, or has failed to.
Result<ConfinedProcess> launch_child(ChildLaunch& launch, const ProcessStart& start) {
  const Stacks stacks;
  if (!stacks.exist()) return Error{ErrorCode::unavailable, "no memory for a process"};
  launch.inner_stack = stacks.inner();
  const DumpableKept dumpable(DumpableKept::Need::unchanged);
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  const pid_t outer =
      ::__clone(&run_confined_child, stacks.outer(), CLONE_VM | CLONE_VFORK | SIGCHLD, &launch);
  const int error = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  if (outer < 0) {
    return Error{ErrorCode::unavailable, "cannot start the command: no process: " +
                                             describe_errno(error) + " (run fewer at a time)"};
  }
  const bool two = launch.level == IsolationLevel::namespaces;
  if (two) reap(outer);
  ConfinedProcess process{two ? launch.inner : outer, Descriptor()};
  if (launch.error != 0) {
    if (process.pid > 0) reap(process.pid);
    return describe_failure(start, launch);
  }
  process.handle.reset(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (process.handle) return process;
  ::kill(process.pid, SIGKILL);
  reap(process.pid);
  return Error{ErrorCode::unavailable,
               "cannot start the command: no descriptor (raise the limit on open files)"};
}

}  // namespace

Result<std::shared_ptr<Confinement>> Confinement::prepare(SandboxPlan plan) {
  if (!plan.held) PAWL_CHECK(hold_roots(plan));
  std::shared_ptr<Confinement> made(new Confinement(std::move(plan)));
  PAWL_CHECK(made->set_up());
  return made;
}

Status Confinement::set_up() {
  if (plan_.level == IsolationLevel::none) return ok();
  const bool alone = plan_.level == IsolationLevel::landlock;
  PAWL_TRY(landlock_, landlock_behind(plan_.level));
  PAWL_TRY(filter_, seccomp_program(plan_.level, plan_.network));
  identity_ = choose_identity(plan_);
  cgroup_ = Cgroup::make(plan_.limits);
  if (alone) return set_up_landlock();
  PAWL_CHECK(places_.find(plan_));
  PAWL_TRY(namespaces_, make_namespaces(plan_, identity_, places_));
  return ok();
}

Status Confinement::set_up_landlock() {
  if (plan_.network == NetworkAccess::limited) {
    return Error{ErrorCode::unavailable,
                 "a network of listed hosts needs the level `namespace`: Landlock knows ports, not "
                 "hosts (use `namespace`, or network: none)"};
  }
  PAWL_CHECK(check_owner(plan_, identity_));
  sweep_directories(kSandboxDirectory);
  PAWL_TRY(directory_, OwnDirectory::make(kSandboxDirectory));
  temporary_ = directory_.path();
  if (identity_.change == HostIdentity::Change::drop &&
      ::chown(temporary_.c_str(), identity_.user, identity_.group) != 0) {
    return Error{ErrorCode::unavailable, temporary_ + ": " + describe_errno(errno)};
  }
  PAWL_TRY(namespaces_.ruleset, make_landlock_ruleset(plan_.level, plan_.network));
  for (const LandlockRule& rule : landlock_rules_alone(plan_, temporary_)) {
    PAWL_CHECK(rule.object < 0 ? allow_path(namespaces_.ruleset, rule)
                               : allow_beneath(namespaces_.ruleset, rule.object, rule));
  }
  return ok();
}

Result<ConfinedProcess> Confinement::start(const ProcessStart& start) const {
  PAWL_CHECK(check(start));
  const Descriptor host(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!host) return Error{ErrorCode::unavailable, "cannot start the command: no descriptor"};
  const auto candidates = program_candidates(start.argv.front(), find_path(start.environment));
  const auto argv = exec_pointers(start.argv);
  const auto environment = exec_pointers(start.environment);
  const auto candidate_pointers = exec_pointers(candidates);
  sock_fprog program{};
  ChildLaunch launch;
  launch.argv = argv.data();
  launch.environment = environment.data();
  launch.candidates = candidate_pointers.data();
  if (!start.working_directory.empty()) launch.working_directory = start.working_directory.c_str();
  launch.stdio[0] = start.input;
  launch.stdio[1] = start.output;
  launch.stdio[2] = start.errors;
  launch.host = host.number();
  launch.level = plan_.level;
  launch.own_proc = namespaces_.proc == Namespaces::Proc::own;
  launch.ruleset = namespaces_.ruleset.number();
  if (filter_) {
    program.len = static_cast<unsigned short>(filter_->size());
    program.filter = const_cast<sock_filter*>(filter_->data());
    launch.filter = &program;
  }
  for (std::size_t i = 0; i < kNamespaces; ++i) {
    launch.spaces[i] = namespaces_.spaces[i].number();
  }
  for (std::size_t i = 0; i < std::min(kDoorsMax, cgroup_.doors().size()); ++i) {
    launch.doors[i] = cgroup_.doors()[i].number();
  }
  launch.drop_identity =
      plan_.level == IsolationLevel::landlock && identity_.change == HostIdentity::Change::drop;
  launch.user = identity_.user;
  launch.group = identity_.group;
  add_limits(launch, plan_, cgroup_, start.mark);
  return launch_child(launch, start);
}

}  // namespace pawl::sandbox
