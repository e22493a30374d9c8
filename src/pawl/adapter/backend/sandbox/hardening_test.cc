#include "pawl/adapter/backend/sandbox/hardening.h"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pawl {
namespace {

TEST_CASE("a hardened host leaves no core and cannot be looked into") {
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit cores{};
    const bool hardened = harden_host().has_value() && ::getrlimit(RLIMIT_CORE, &cores) == 0 &&
                          cores.rlim_max == 0 && ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
    ::_exit(hardened ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace pawl
