#include "pawl/adapter/backend/command/guardian.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "pawl/adapter/backend/command/command_test_support.h"
#include "pawl/adapter/backend/command/process_tree.h"

namespace pawl::tool_command {
namespace {

// A host that has started two children, one of them marked, and waits to be killed.
pid_t start_host(pid_t (&children)[2]) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t host = ::fork();
  if (host == 0) {
    ::close(ends[0]);
    const bool guarded = ensure_guardian().has_value() && ensure_guardian().has_value();
    const rlimit mark{make_tree_mark().limit, RLIM_INFINITY};
    for (pid_t& child : children) {
      child = guarded ? ::fork() : -1;
      if (child != 0) continue;
      ::setsid();
      ::close(ends[1]);
      if (&child == &children[0]) ::setrlimit(RLIMIT_LOCKS, &mark);
      ::execl("/bin/sleep", "sleep", "600", nullptr);
      ::_exit(1);
    }
    const bool told = ::write(ends[1], children, sizeof children) == sizeof children;
    ::close(ends[1]);
    while (told) ::pause();
    ::_exit(1);
  }
  ::close(ends[1]);
  REQUIRE(::read(ends[0], children, sizeof children) == sizeof children);
  ::close(ends[0]);
  return host;
}

TEST_CASE("what carries the mark of a host that was killed is ended, and nothing else") {
  pid_t children[2] = {-1, -1};
  const pid_t host = start_host(children);
  REQUIRE(children[0] > 0);
  REQUIRE(children[1] > 0);
  CHECK(is_alive(children[0]));
  ::kill(host, SIGKILL);
  REQUIRE(::waitpid(host, nullptr, 0) == host);
  CHECK(eventually([&] { return !is_alive(children[0]); }));
  CHECK(is_alive(children[1]));
  ::kill(children[1], SIGKILL);
}

}  // namespace
}  // namespace pawl::tool_command
