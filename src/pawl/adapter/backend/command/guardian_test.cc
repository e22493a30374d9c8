#include "pawl/adapter/backend/command/guardian.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "pawl/adapter/backend/command/command_test_support.h"
#include "pawl/adapter/backend/command/process_tree.h"

namespace pawl::tool_command {
namespace {

using MarkedLife = void (*)();

void sleep_long() {
  ::execl("/bin/sleep", "sleep", "600", nullptr);
}

// A host that has started two children, one of them marked, and waits to be killed.
pid_t start_host(pid_t (&children)[2], MarkedLife marked = &sleep_long) {
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
      if (&child == &children[0]) {
        ::close_range(3, ~0U, 0);  // the host's end of the guardian's pipe among them
        ::setrlimit(RLIMIT_LOCKS, &mark);
        marked();
      }
      sleep_long();
      ::_exit(1);
    }
    const bool told = ::write(ends[1], children, sizeof children) == sizeof children;
    ::close(ends[1]);
    while (told) ::pause();
    ::_exit(1);
  }
  REQUIRE(host > 1);
  ::close(ends[1]);
  REQUIRE(::read(ends[0], children, sizeof children) == sizeof children);
  ::close(ends[0]);
  // They are killed by these numbers: -1 would be everybody.
  for (const pid_t child : children) REQUIRE(child > 1);
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

TEST_CASE("none of the attempts to be taken for dead by a name works") {
  pid_t children[2] = {-1, -1};
  const pid_t host = start_host(children, [] {
    ::prctl(PR_SET_NAME, "x) Z", 0, 0, 0);
    for (;;) ::pause();
  });
  ::kill(host, SIGKILL);
  REQUIRE(::waitpid(host, nullptr, 0) == host);
  CHECK(eventually([&] { return !is_alive(children[0]); }));
  ::kill(children[0], SIGKILL);
  ::kill(children[1], SIGKILL);
}

// Of all processes of a line together.
volatile std::uint32_t* generations = nullptr;

// Each lives for as long as it takes to have the next one.
void fork_and_exit_for_ever() {
  for (int i = 0; i < 200'000; ++i) {
    *generations = *generations + 1;
    const pid_t next = ::fork();
    if (next > 0) ::_exit(0);
    if (next < 0) ::sched_yield();
  }
}

// A look at all processes does not find it, so it has to say itself that it lives.
TEST_CASE("a line of processes that fork and exit ends after its host") {
  void* shared = ::mmap(nullptr, sizeof *generations, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  generations = static_cast<std::uint32_t*>(shared);
  pid_t children[2] = {-1, -1};
  const pid_t host = start_host(children, &fork_and_exit_for_ever);
  ::kill(host, SIGKILL);
  REQUIRE(::waitpid(host, nullptr, 0) == host);
  std::uint32_t seen = 0;
  int still = 0;
  CHECK(eventually([&] {
    still = *generations == seen ? still + 1 : 0;
    seen = *generations;
    return still == 20;
  }));
  CHECK(seen > 0);
  ::kill(-children[0], SIGKILL);
  ::kill(children[1], SIGKILL);
  ::munmap(shared, sizeof *generations);
}

}  // namespace
}  // namespace pawl::tool_command
