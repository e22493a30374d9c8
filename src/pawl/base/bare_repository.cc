#include "pawl/base/bare_repository.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace pawl {

bool is_bare_repository(int directory) {
  const auto has = [&](const char* part) {
    struct stat status{};
    return ::fstatat(directory, part, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
  };
  return has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
}

}  // namespace pawl
