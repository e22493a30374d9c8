#include "pawl/adapter/host/private_memory.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace pawl {

void keep_memory_private() {
  // The hard limit stays: tools may want cores of their own. What fails here leaves the process as
  // it was, which is what other programs are.
  rlimit cores{};
  if (::getrlimit(RLIMIT_CORE, &cores) == 0) {
    cores.rlim_cur = 0;
    static_cast<void>(::setrlimit(RLIMIT_CORE, &cores));
  }
  static_cast<void>(::prctl(PR_SET_DUMPABLE, 0));
}

}  // namespace pawl
