#include "pawl/adapter/backend/sandbox/dumpable.h"

#include <doctest/doctest.h>
#include <sys/prctl.h>

namespace pawl::sandbox {
namespace {

int now() {
  return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

TEST_CASE("the host is left as dumpable as it was, whatever children did") {
  const int before = now();
  for (const int value : {1, 0}) {
    ::prctl(PR_SET_DUMPABLE, value, 0, 0, 0);
    {
      const DumpableKept outer(DumpableKept::Need::unchanged);
      ::prctl(PR_SET_DUMPABLE, 1 - value, 0, 0, 0);
      {
        const DumpableKept inner(DumpableKept::Need::raised);
      }
      CHECK((now() == 1 - value || now() == 1));  // not before the last one has gone
    }
    CHECK(now() == value);
  }
  ::prctl(PR_SET_DUMPABLE, before, 0, 0, 0);
}

}  // namespace
}  // namespace pawl::sandbox
