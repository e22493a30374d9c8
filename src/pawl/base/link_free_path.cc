#include "pawl/base/link_free_path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "pawl/base/describe_errno.h"

namespace pawl {
namespace {

constexpr int kOpenAttemptsMax = 64;  // openat2 says EAGAIN when somebody renames while it looks

// For the message only.
std::string first_link(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path at = "/";
  std::error_code none;
  for (const fs::path& part : fs::path(path).relative_path()) {
    at /= part;
    if (fs::is_symlink(at, none)) return at.string();
  }
  return path;
}

}  // namespace

Result<Descriptor> open_link_free(const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  int error = 0;
  for (int attempt = 0; attempt < kOpenAttemptsMax; ++attempt) {
    const auto fd = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Descriptor(static_cast<int>(fd));
    error = errno;
    if (error != EAGAIN && error != EINTR) break;
  }
  if (error == ELOOP) {
    return Error{ErrorCode::invalid_argument,
                 first_link(path) +
                     " is a symbolic link, and is not followed here (name the place that it leads "
                     "to)"};
  }
  if (error == ENOSYS || error == EPERM) {
    return Error{ErrorCode::unavailable,
                 "openat2 is not available (" + describe_errno(error) +
                     "): Linux 5.6 or later is needed, and a container's seccomp profile that "
                     "lets it through"};
  }
  return Error{error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
               path + ": " + describe_errno(error)};
}

Status reach_link_free(const std::string& path) {
  const auto found = open_link_free(path, O_PATH);
  return found ? ok() : Status(found.error());
}

}  // namespace pawl
