#include "pawl/adapter/backend/sandbox/dumpable.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <mutex>

namespace pawl::sandbox {
namespace {

// Of all threads together: the first one to come knows how it was, the last one puts it back.
struct Shared {
  std::mutex mutex;
  int users = 0;
  int before = 0;
};

Shared& shared() {
  static Shared instance;
  return instance;
}

}  // namespace

DumpableKept::DumpableKept(Need need) {
  const std::lock_guard lock(shared().mutex);
  if (shared().users++ == 0) shared().before = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  if (need == Need::raised && ::geteuid() != 0) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

DumpableKept::~DumpableKept() {
  const std::lock_guard lock(shared().mutex);
  if (--shared().users > 0) return;
  ::prctl(PR_SET_DUMPABLE, shared().before == 1 ? 1 : 0, 0, 0, 0);
}

}  // namespace pawl::sandbox
