#include "pawl/base/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"
#include "pawl/base/files.h"

namespace pawl {
namespace {

constexpr mode_t kPrivate = 0600;

Error refused(const std::string& what, const std::string& path) {
  return {ErrorCode::unavailable, "cannot " + what + " " + path + ": " + describe_errno(errno)};
}

// Held by whoever changes the file; none if it cannot be had.
Descriptor lock_at(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kPrivate));
  if (file && ::flock(file.number(), LOCK_EX) != 0) file.reset();
  return file;
}

}  // namespace

Status change_locked_file(const std::string& path,
                          const std::function<Result<std::string>()>& change) {
  const Descriptor lock = lock_at(path + ".lock");
  if (!lock) return refused("lock", path);
  PAWL_TRY(const std::string text, change());
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());  // of a process that was killed
  PAWL_CHECK(write_new_file(fresh, text));
  if (::chmod(fresh.c_str(), kPrivate) != 0) return refused("protect", fresh);
  if (::rename(fresh.c_str(), path.c_str()) != 0) return refused("replace", path);
  return ok();
}

}  // namespace pawl
