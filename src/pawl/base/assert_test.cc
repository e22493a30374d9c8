#include "pawl/base/assert.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace pawl {
namespace {

constexpr std::size_t kSaidBytesMax = 64U << 10U;

struct Ended {
  std::string said;
  int status = 0;
};

// What a process said on its standard error before it was ended by `work`.
template <class Work>
Ended end_of(Work work) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(SIGABRT, SIG_DFL);  // not the test program's, which would speak, too
    ::dup2(ends[1], STDERR_FILENO);
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  Ended ended;
  char bytes[4'096];
  while (ended.said.size() < kSaidBytesMax) {
    const ssize_t got = ::read(ends[0], bytes, sizeof bytes);
    if (got <= 0) break;
    ended.said.append(bytes, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  REQUIRE(::waitpid(child, &ended.status, 0) == child);
  return ended;
}

}  // namespace

TEST_CASE("sc-K13 an assertion with the request in scope says what is wrong, and no value of it") {
  const std::string key = "sk-test-5f2a77c1d0e94b1b";
  struct Request {
    std::string header;
    std::string url;
  };
  const Request request{"Authorization: Bearer " + key, "https://example.org/?key=" + key};

  const Ended ended = end_of([&request] { PAWL_ASSERT(request.header == request.url); });

  CHECK(WIFSIGNALED(ended.status));
  CHECK(WTERMSIG(ended.status) == SIGABRT);
  CHECK(ended.said.find("assertion failed: request.header == request.url") != std::string::npos);
  CHECK(ended.said.find(key) == std::string::npos);
  CHECK(ended.said.find("Bearer") == std::string::npos);
}

TEST_CASE("an assertion that holds says nothing and ends nothing") {
  const Ended ended = end_of([] { PAWL_ASSERT(1 + 1 == 2); });
  CHECK(WIFEXITED(ended.status));
  CHECK(ended.said.empty());
}

}  // namespace pawl
