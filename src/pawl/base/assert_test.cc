#include "pawl/result.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "pawl/base/sanitizer.h"

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
    ::close(STDOUT_FILENO);  // where the test program would speak of a SIGSEGV
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

#if PAWL_HAS_ASAN
// Each has a request with a key in scope, on the stack, on the heap and in registers.
enum class PlantedFault : std::uint8_t { heap_overflow, use_after_free, stack_overflow, wild };

[[gnu::noinline]] int commit(PlantedFault fault, const std::string& key) {
  auto header = std::make_unique<std::string>("Authorization: Bearer " + key);
  std::array<char, 64> url{};
  key.copy(url.data(), url.size());
  const char* volatile at = url.data();  // the compiler must not see what this leads to
  switch (fault) {
    case PlantedFault::heap_overflow:
      at = header->data();
      return at[header->capacity() + 1];
    case PlantedFault::use_after_free:
      at = header->data();
      header.reset();
      return at[1];
    case PlantedFault::stack_overflow:
      return at[url.size()];
    case PlantedFault::wild:
      break;
  }
  // What the key says is taken for a place: a register holds a part of it.
  std::uintptr_t place = 0;
  std::memcpy(&place, key.data(), sizeof place);
  return *reinterpret_cast<const volatile char*>(place);
}

// As a reader of a dump would write eight bytes of memory.
std::string words_of(std::string_view text, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, text.data() + at, sizeof word);
  std::ostringstream written;
  written << std::hex << word;
  return written.str();
}
#endif

TEST_CASE("sc-K13 a report of AddressSanitizer with the request in scope has no value of it") {
#if PAWL_HAS_ASAN
  const std::string key = "sk-test-5f2a77c1d0e94b1b";
  char place[] = "/tmp/pawl-report-XXXXXX";
  REQUIRE(::mkdtemp(place) != nullptr);
  for (const PlantedFault fault : {PlantedFault::heap_overflow, PlantedFault::use_after_free,
                                   PlantedFault::stack_overflow, PlantedFault::wild}) {
    CAPTURE(static_cast<int>(fault));
    const Ended ended = end_of([&] {
      if (::chdir(place) == 0) ::_exit(commit(fault, key) & 1);
    });
    CAPTURE(ended.said);
    CHECK_FALSE((WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0));
    CHECK(ended.said.find("AddressSanitizer") != std::string::npos);
    CHECK(ended.said.find(key) == std::string::npos);
    CHECK(ended.said.find("Bearer") == std::string::npos);
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= key.size(); ++at) {
      CHECK(ended.said.find(words_of(key, at)) == std::string::npos);
    }
    CHECK(::rmdir(place) == 0);  // it has left no file
    REQUIRE(::mkdir(place, 0700) == 0);
  }
  CHECK(::rmdir(place) == 0);
#else
  std::printf("SKIPPED: this build has no AddressSanitizer\n");
#endif
}

TEST_CASE("an assertion that holds says nothing and ends nothing") {
  const Ended ended = end_of([] { PAWL_ASSERT(1 + 1 == 2); });
  CHECK(WIFEXITED(ended.status));
  CHECK(ended.said.empty());
}

}  // namespace pawl
