// Machines that lack something: refused with the reason and the remedy, never at a lower level.
// And hosts of every kind: root, ordinary, hardened, killed.

#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract.h"

namespace pawl::backend {
namespace {

using contract::comes_true;
using contract::holds;
using contract::runs;

// Makes one system call fail from now on, for this process and its children; with `flag`, only if
// its first argument has that bit.
void forbid(std::uint32_t number, int error, std::uint32_t flag) {
  constexpr auto kFirstArgument = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
  const std::uint32_t refuse = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
  sock_filter any[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                       {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number},
                       {BPF_RET | BPF_K, 0, 0, refuse},
                       {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  sock_filter some[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                        {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, number},
                        {BPF_LD | BPF_W | BPF_ABS, 0, 0, kFirstArgument},
                        {BPF_JMP | BPF_JSET | BPF_K, 0, 1, flag},
                        {BPF_RET | BPF_K, 0, 0, refuse},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{static_cast<unsigned short>(flag == 0 ? 4 : 6), flag == 0 ? any : some};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    ::_exit(99);
  }
}

// What probe() and init() say in a process where the call is forbidden. Children of the test only
// ever end by _exit().
std::string refusal_with(MakeBackend make, std::uint32_t number, int error, std::uint32_t flag) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    forbid(number, error, flag);
    TestLoop loop;
    const auto level = make(loop, test_options())->probe();
    const std::string said = level ? "reached " + std::string(name(*level)) : level.error().message;
    ::_exit(::write(ends[1], said.data(), said.size()) > 0 ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said(4096, '\0');
  const ssize_t bytes = ::read(ends[0], said.data(), said.size());
  said.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  ::close(ends[0]);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  return said;
}

TEST_CASE("without user namespaces, `namespace` is refused and `landlock` is as good as ever") {
  if (!is_there(&make_namespace_backend) || !is_there(&make_landlock_backend)) return;
  const std::string said = refusal_with(&make_namespace_backend, SYS_clone, EPERM, CLONE_NEWUSER);
  CHECK(holds(said, "user namespaces are not allowed"));
  CHECK(holds(said, "max_user_namespaces"));
  CHECK(refusal_with(&make_landlock_backend, SYS_clone, EPERM, CLONE_NEWUSER) ==
        "reached landlock");
}

TEST_CASE("without Landlock, neither is to be had (B02)") {
  if (!is_there(&make_namespace_backend) || !is_there(&make_landlock_backend)) return;
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
    for (const int error : {ENOSYS, EOPNOTSUPP}) {
      const std::string said = refusal_with(make, SYS_landlock_create_ruleset, error, 0);
      CHECK(holds(said, "Landlock"));
      CHECK(holds(said, "("));  // the remedy
      CHECK_FALSE(holds(said, "reached"));
    }
    CHECK_FALSE(holds(refusal_with(make, SYS_landlock_restrict_self, EPERM, 0), "reached"));
  }
}

TEST_CASE("without Landlock or user namespaces, a container is as good as ever") {
  if (!is_there(&make_runc_backend)) return;
  CHECK(refusal_with(&make_runc_backend, SYS_landlock_create_ruleset, ENOSYS, 0) ==
        "reached container");
  CHECK(refusal_with(&make_runc_backend, SYS_clone, EPERM, CLONE_NEWUSER) == "reached container");
}

TEST_CASE("without seccomp, neither is to be had") {
  if (!is_there(&make_namespace_backend) || !is_there(&make_landlock_backend)) return;
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
    CHECK(holds(refusal_with(make, SYS_seccomp, EINVAL, 0), "seccomp"));
  }
}

TEST_CASE("a step of the root that fails is named, and nothing is run") {
  if (!is_there(&make_namespace_backend)) return;
  CHECK(holds(refusal_with(&make_namespace_backend, SYS_pivot_root, EPERM, 0), "no sandbox"));
  CHECK(holds(refusal_with(&make_namespace_backend, SYS_mount_setattr, ENOSYS, 0), "no sandbox"));
}

TEST_CASE("without idmapped mounts, root's number is kept and the level is the same") {
  if (!is_there(&make_namespace_backend)) return;
  CHECK(refusal_with(&make_namespace_backend, SYS_open_tree, ENOSYS, 0) == "reached namespace");
}

// Limits are kept, and each has its outcome, also where nobody may make a control group.
TEST_CASE("without control groups, the levels keep the contract and containers are refused") {
  if (::geteuid() != 0) return;  // an ordinary user has none, and keeps it all the time
  const pid_t child = ::fork();
  if (child == 0) {
    const bool hidden = ::unshare(CLONE_NEWNS) == 0 &&
                        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                        ::mount("none", "/sys/fs/cgroup", "tmpfs", MS_RDONLY, nullptr) == 0;
    if (!hidden) ::_exit(97);
    ::execl("/proc/self/exe", "self",
            "-tc=the namespace backend keeps*,the landlock backend keeps*,what is refused without*",
            "--no-skip", nullptr);
    ::_exit(98);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 97) {
    std::printf("SKIPPED: control groups cannot be hidden here\n");
    return;
  }
  CHECK(status == 0);
}

// Not a test of its own: run by the one above, where there are no control groups.
TEST_CASE("what is refused without control groups" * doctest::skip()) {
  TestLoop loop;
  const auto level = make_runc_backend(loop, test_options())->probe();
  REQUIRE_FALSE(level);
  CAPTURE(level.error().message);
  CHECK(holds(level.error().message, "no container"));
  CHECK(holds(level.error().message, "`namespace`"));
}

constexpr const char* kOtherUserFilter =
    "-tc=none of the attempts*,nothing is left*,a host that*,without*,a step of the root*,the "
    "namespace backend keeps*,the landlock backend keeps*";

TEST_CASE("all of it holds for an ordinary user, too") {
  if (::geteuid() != 0) return;  // then it has been shown already
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    const bool changed = ::setgroups(0, nullptr) == 0 &&
                         ::setresgid(kNobody, kNobody, kNobody) == 0 &&
                         ::setresuid(kNobody, kNobody, kNobody) == 0;
    if (changed) ::execl("/proc/self/exe", "self", kOtherUserFilter, nullptr);
    ::_exit(98);  // the program may not be read by others here
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 98) {
    std::printf("SKIPPED: this program cannot be run by an ordinary user\n");
    return;
  }
  CHECK(status == 0);
}

}  // namespace
}  // namespace pawl::backend
