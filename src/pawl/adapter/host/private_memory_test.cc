#include "pawl/adapter/host/private_memory.h"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace pawl {

TEST_CASE("a process that keeps its memory private leaves no core and lets nobody in") {
  keep_memory_private();
  rlimit cores{};
  REQUIRE(::getrlimit(RLIMIT_CORE, &cores) == 0);
  CHECK(cores.rlim_cur == 0);
  CHECK(::prctl(PR_GET_DUMPABLE) == 0);
}

}  // namespace pawl
