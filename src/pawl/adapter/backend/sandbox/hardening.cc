#include "pawl/adapter/backend/sandbox/hardening.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace pawl {

Status harden_host() {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) {
    return Error{ErrorCode::unavailable, "core dumps could not be switched off"};
  }
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return Error{ErrorCode::unavailable, "the process could not be made undumpable"};
  }
  return ok();
}

}  // namespace pawl
