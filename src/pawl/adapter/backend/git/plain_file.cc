#include "pawl/adapter/backend/git/plain_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "pawl/base/describe_errno.h"

namespace pawl::git {
namespace {

Descriptor open_beneath(int directory, const std::string& name, int flags, mode_t mode = 0) {
  open_how how{};
  how.flags = static_cast<__u64>(flags | O_CLOEXEC | O_NOCTTY);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return Descriptor(
      static_cast<int>(::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how)));
}

Error failure(const std::string& name, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
  return {code, name + ": " + describe_errno(error)};
}

Result<std::string> read_open(const Descriptor& file, const std::string& name,
                              std::uint64_t bytes_max) {
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return failure(name, errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::unavailable, name + " is not a regular file"};
  }
  std::string text;
  std::string piece(64U << 10U, '\0');
  for (;;) {  // bounded by bytes_max
    const ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(name, errno);
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > bytes_max) return Error{ErrorCode::limit_exceeded, name + " is too large"};
  }
}

Status write_all(const Descriptor& file, const std::string& name, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file.number(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(name, errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return ok();
}

struct Parts {
  Descriptor parent;
  std::string name;
};

Result<Parts> split(int directory, const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::string above = slash == std::string::npos ? "." : name.substr(0, slash);
  Parts parts{open_beneath(directory, above, O_RDONLY | O_DIRECTORY), name.substr(slash + 1)};
  if (!parts.parent) return failure(name, errno);
  return parts;
}

}  // namespace

void give_to(int file, const Owner& owner) {
  if (::geteuid() != 0) return;
  [[maybe_unused]] const int given = ::fchown(file, owner.user, owner.group);
}

Result<std::string> read_plain_file(const std::string& path, std::uint64_t bytes_max) {
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return failure(path, errno);
  return read_open(file, path, bytes_max);
}

Result<std::string> read_plain_beneath(int directory, const std::string& name,
                                       std::uint64_t bytes_max) {
  const Descriptor file = open_beneath(directory, name, O_RDONLY | O_NONBLOCK);
  if (!file) return failure(name, errno);
  return read_open(file, name, bytes_max);
}

std::optional<timespec> time_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status.st_mtim;
}

void set_time(int directory, const std::string& name, const timespec& time) {
  const std::array<timespec, 2> times = {time, time};
  ::utimensat(directory, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
}

Result<Descriptor> make_beneath(int directory, const std::string& name, const Owner& owner) {
  PAWL_TRY(const Parts parts, split(directory, name));
  const bool made = ::mkdirat(parts.parent.number(), parts.name.c_str(), 0755) == 0;
  if (!made && errno != EEXIST) return failure(name, errno);
  Descriptor found = open_beneath(directory, name, O_RDONLY | O_DIRECTORY);
  if (!found) return failure(name, errno);
  if (made) give_to(found.number(), owner);
  return found;
}

Status replace_beneath(int directory, const std::string& name, std::string_view text,
                       const Owner& owner) {
  PAWL_TRY(const Parts parts, split(directory, name));
  // Of ours, and of nobody who comes before: the directory may be shared with whoever lies in wait.
  const std::string made = parts.name + ".new." + std::to_string(::getpid());
  ::unlinkat(parts.parent.number(), made.c_str(), 0);
  const Descriptor file = open_beneath(parts.parent.number(), made, O_CREAT | O_EXCL | O_WRONLY,
                                       S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  if (!file) return failure(name, errno);
  give_to(file.number(), owner);
  Status written = write_all(file, name, text);
  if (written && ::renameat(parts.parent.number(), made.c_str(), parts.parent.number(),
                            parts.name.c_str()) != 0) {
    written = failure(name, errno);
  }
  if (!written) ::unlinkat(parts.parent.number(), made.c_str(), 0);
  return written;
}

Status replace_locked(int directory, const std::string& name, std::string_view text,
                      const Owner& owner, const std::function<Status()>& still) {
  const std::string lock = name + ".lock";
  const Descriptor file = open_beneath(directory, lock, O_CREAT | O_EXCL | O_WRONLY,
                                       S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  if (!file) {
    if (errno != EEXIST) return failure(lock, errno);
    return Error{ErrorCode::conflict, lock + " is there: somebody else is changing it"};
  }
  give_to(file.number(), owner);
  Status done = still();
  if (done) done = write_all(file, name, text);
  if (done && ::fsync(file.number()) != 0) done = failure(name, errno);
  if (done && ::renameat(directory, lock.c_str(), directory, name.c_str()) != 0) {
    done = failure(name, errno);
  }
  if (!done) ::unlinkat(directory, lock.c_str(), 0);
  return done;
}

}  // namespace pawl::git
