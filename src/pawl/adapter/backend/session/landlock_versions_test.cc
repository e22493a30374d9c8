// The level `namespace` with the Landlock of other kernels, or none. Run by tests/landlock, which
// shows this program one version after the other; by itself it looks at the kernel's own.

#include <grp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "pawl/adapter/backend/sandbox/landlock_rules.h"
#include "pawl/adapter/backend/session/backend_test_support.h"
#include "pawl/adapter/backend/session/forbidden_call_test.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

using contract::holds;

// The version that this program is shown; 0: none.
int shown_version() {
  const auto version = sandbox::landlock_version();
  return version ? *version : 0;
}

// This program once more, with these tests only, after `become` has changed the process.
int run_again(const char* filter, void (*become)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    become();
    ::execl("/proc/self/exe", "self", filter, nullptr);
    ::_exit(98);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("with Landlock of the version that is shown, `namespace` is reached and says which") {
  if (!is_there(&make_namespace_backend)) return;
  const int version = shown_version();
  if (const char* wanted = std::getenv("PAWL_TEST_LANDLOCK")) {
    CHECK(version <= std::atoi(wanted));  // the library that shows it was loaded
  }
  TestLoop loop;
  const int used = make_namespace_backend(loop, test_options())->landlock();
  CHECK(used == (version < 2 ? 0 : std::min(version, 6)));
}

TEST_CASE("with Landlock of the version that is shown, `landlock` is reached or says why not") {
  TestLoop loop;
  const auto level = make_landlock_backend(loop, test_options())->probe();
  CHECK(level.has_value() == (shown_version() >= 6));
  if (level) return;
  CAPTURE(level.error().message);
  CHECK(holds(level.error().message, shown_version() == 0 ? "Landlock is" : "signalling"));
}

TEST_CASE("with Landlock of the version that is shown, files move between directories") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const BackendOutcome moved =
      bench.exec({"python3", "-c",
                  "import os\nos.mkdir('a')\nos.mkdir('b')\nopen('a/f', 'w').write('x')\n"
                  "os.rename('a/f', 'b/f')\nos.link('b/f', 'a/g')\nos.truncate('a/g', 0)\n"
                  "os.rename('a', 'b/a')\n"});
  CAPTURE(moved.output);
  CHECK(moved.kind == BackendOutcome::Kind::ok);
}

constexpr const char* kAttempts = "-tc=none of the attempts*behind namespaces";

// Where the disk cannot show root's files as somebody else's, commands keep root's number outside.
TEST_CASE("with Landlock of the version that is shown, root's number without rights is held") {
  if (::geteuid() != 0 || !is_there(&make_namespace_backend)) return;
  CHECK(run_again(kAttempts, [] { forbid(SYS_open_tree, ENOSYS); }) == 0);
}

TEST_CASE("with Landlock of the version that is shown, an ordinary user is held") {
  if (::geteuid() != 0) return;  // then it has been shown already
  const int status = run_again(kAttempts, [] {
    constexpr uid_t kNobody = 65534;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0) {
      ::_exit(97);
    }
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 98) {
    std::printf("SKIPPED: this program cannot be run by an ordinary user\n");
    return;
  }
  CHECK(status == 0);
}

}  // namespace
}  // namespace pawl::backend
