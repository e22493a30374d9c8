#include "pawl/adapter/backend/sandbox/remove_directory.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace pawl::sandbox {
namespace {

constexpr int kGood = 0;
constexpr int kNotMade = 1;
constexpr int kStayed = 2;

// As a user whom rights mean something to, with few descriptors, in a process of its own.
int removed_by_ordinary_user(bool (*fill)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobodyInParticular = 61998;
    const rlimit few{64, 64};
    ::setrlimit(RLIMIT_NOFILE, &few);
    if (::geteuid() == 0 &&
        ::setresuid(kNobodyInParticular, kNobodyInParticular, kNobodyInParticular) != 0) {
      ::_exit(kNotMade);
    }
    std::string path = "/tmp/pawl-remove-test-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr || ::chdir(path.c_str()) != 0 || !fill()) {
      ::_exit(kNotMade);
    }
    remove_directory(path);
    ::_exit(::access(path.c_str(), F_OK) == 0 ? kStayed : kGood);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WEXITSTATUS(status);
}

TEST_CASE("a directory that nobody may read goes with what is in it") {
  CHECK(removed_by_ordinary_user([] {
          const bool made = ::mkdir("shut", 0700) == 0 && ::mkdir("shut/inner", 0700) == 0 &&
                            ::mkdir("shut/inner/third", 0700) == 0 &&
                            ::close(::creat("shut/inner/third/file", 0)) == 0;
          return made && ::chmod("shut/inner/third", 0) == 0 && ::chmod("shut/inner", 0300) == 0 &&
                 ::chmod("shut", 0) == 0;
        }) == kGood);
}

TEST_CASE("a tree deeper than there are descriptors goes, too") {
  CHECK(removed_by_ordinary_user([] {
          for (int i = 0; i < 300; ++i) {
            if (::mkdir("d", 0700) != 0 || ::chdir("d") != 0) return false;
          }
          return true;
        }) == kGood);
}

TEST_CASE("what a link leads to stays") {
  CHECK(removed_by_ordinary_user([] {
          return ::symlink("/usr", "link") == 0 && ::mkdir("d", 0700) == 0 &&
                 ::symlink("..", "d/up") == 0;
        }) == kGood);
  CHECK(::access("/usr/bin", F_OK) == 0);
}

}  // namespace
}  // namespace pawl::sandbox
