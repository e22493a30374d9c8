// Machines that lack something: refused with the reason and the remedy, never at a lower level.
// And hosts of every kind: root, ordinary, hardened, killed.

#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "pawl/adapter/backend/session/forbidden_call_test.h"
#include "tests/contract/backend_contract.h"

namespace pawl::backend {
namespace {

using contract::comes_true;
using contract::holds;
using contract::runs;

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
  CHECK(holds(said, "seccomp"));
  CHECK(refusal_with(&make_landlock_backend, SYS_clone, EPERM, CLONE_NEWUSER) ==
        "reached landlock");
}

TEST_CASE("without Landlock, `namespace` holds and `landlock` is refused (B02)") {
  if (!is_there(&make_namespace_backend) || !is_there(&make_landlock_backend)) return;
  for (const int error : {ENOSYS, EOPNOTSUPP}) {
    CHECK(refusal_with(&make_namespace_backend, SYS_landlock_create_ruleset, error, 0) ==
          "reached namespace");
    const std::string said =
        refusal_with(&make_landlock_backend, SYS_landlock_create_ruleset, error, 0);
    CHECK(holds(said, "Landlock is"));
    CHECK(holds(said, "("));  // the remedy
    CHECK_FALSE(holds(said, "reached"));
  }
  // A ruleset that cannot be put into force is no reason to go on without it.
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
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
