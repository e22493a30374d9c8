#include "pawl/adapter/journal_sqlite/stop_gate.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace pawl::sqlite {
namespace {

// A process of its own: what is tried here stops it.
pid_t child_that(const std::function<void()>& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child != 0) return child;
  work();
  ::_exit(0);
}

bool has_stopped(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status);
}

bool has_ended_well(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("without a commit a stop is taken at once, and once") {
  const pid_t child = child_that([] { stop_between_commits(); });
  CHECK(has_stopped(child));
  ::kill(child, SIGCONT);
  CHECK(has_ended_well(child));
}

TEST_CASE("a stop in the middle of a commit is taken when it ends") {
  int pipe[2] = {-1, -1};
  REQUIRE(::pipe(pipe) == 0);
  const auto say = [&](char letter) { static_cast<void>(!::write(pipe[1], &letter, 1)); };
  const pid_t child = child_that([&] {
    {
      const CommitSection outer;
      {
        const CommitSection inner;
        stop_between_commits();
        say('a');
      }
      say('b');
    }
    say('c');
  });
  CHECK(has_stopped(child));
  char said[4] = {};
  CHECK(::read(pipe[0], said, sizeof said) == 2);
  CHECK(said[0] == 'a');
  CHECK(said[1] == 'b');
  ::kill(child, SIGCONT);
  CHECK(has_ended_well(child));
  CHECK(::read(pipe[0], said, sizeof said) == 1);
  CHECK(said[0] == 'c');
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_CASE("commits and stops in any order never stop the process inside a commit") {
  constexpr int kStops = 50;
  auto* const inside = static_cast<std::atomic<bool>*>(::mmap(nullptr, sizeof(std::atomic<bool>),
                                                              PROT_READ | PROT_WRITE,
                                                              MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(inside != MAP_FAILED);
  const pid_t child = child_that([inside] {
    std::thread committer([inside] {
      for (int i = 0; i < 20'000; ++i) {
        const CommitSection section;
        *inside = true;
        *inside = false;
      }
    });
    for (int i = 0; i < kStops; ++i) stop_between_commits();
    committer.join();
  });
  int status = 0;
  int stops = 0;
  while (::waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
    ++stops;
    CHECK_FALSE(inside->load());
    ::kill(child, SIGCONT);
  }
  CHECK(stops > 0);
  CHECK(stops <= kStops);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

}  // namespace
}  // namespace pawl::sqlite
