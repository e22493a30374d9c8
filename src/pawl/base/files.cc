#include "pawl/base/files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl {
namespace {

Error failed(const std::string& what, const std::string& path) {
  const int fault = errno;
  ErrorCode code = ErrorCode::unavailable;
  if (fault == ENOENT || fault == ENOTDIR) code = ErrorCode::not_found;
  if (fault == EISDIR) code = ErrorCode::invalid_argument;
  if (fault == EEXIST) code = ErrorCode::conflict;
  return {code, path + ": cannot be " + what + ": " + describe_errno(fault)};
}

Error too_long(const std::string& path, std::size_t bytes_max) {
  return {ErrorCode::limit_exceeded,
          path + ": longer than " + std::to_string(bytes_max) + " bytes; make it shorter"};
}

constexpr int kNeverWaits = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
constexpr int kOpenAttemptsMax = 64;

Result<std::string> read_regular(const Descriptor& file, const std::string& path,
                                 std::size_t bytes_max) {
  struct stat info{};
  if (!file || ::fstat(file.number(), &info) != 0) return failed("read", path);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::invalid_argument, path + ": not a regular file"};
  }
  if (static_cast<std::uint64_t>(info.st_size) > bytes_max) return too_long(path, bytes_max);
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::read(file.number(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", path);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  const Descriptor file(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return failed("read", path);
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  while (true) {
    const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", path);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > bytes_max) return too_long(path, bytes_max);
  }
}

Result<std::string> read_regular_file(const std::string& path, std::size_t bytes_max) {
  return read_regular(Descriptor(::open(path.c_str(), kNeverWaits)), path, bytes_max);
}

Result<std::string> read_file_beneath(const std::string& directory, const std::string& name,
                                      std::size_t bytes_max) {
  const std::string path = (std::filesystem::path(directory) / name).string();
  const Descriptor top(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top) return failed("read", directory);
  struct open_how how{};
  how.flags = static_cast<std::uint64_t>(kNeverWaits);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  Descriptor file;
  for (int i = 0; i < kOpenAttemptsMax && !file; ++i) {
    file = Descriptor(
        static_cast<int>(::syscall(SYS_openat2, top.number(), name.c_str(), &how, sizeof how)));
    if (!file && errno != EAGAIN && errno != EINTR) break;  // EAGAIN: something was renamed
  }
  if (!file && errno == EXDEV) {
    return Error{ErrorCode::invalid_argument,
                 path + ": cannot be read: it leads out of the directory " + directory};
  }
  return read_regular(file, path, bytes_max);
}

std::optional<FileFacts> look_at_file(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  FileFacts facts;
  if (S_ISREG(info.st_mode)) facts.kind = FileFacts::Kind::regular;
  if (S_ISDIR(info.st_mode)) facts.kind = FileFacts::Kind::directory;
  facts.device = info.st_dev;
  facts.inode = info.st_ino;
  facts.bytes = static_cast<std::uint64_t>(info.st_size);
  facts.written = {info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  facts.changed = {info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
  return facts;
}

bool can_be_executed(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

Status write_new_file(const std::string& path, const std::string& text, FileMode mode) {
  const mode_t bits = mode == FileMode::owner_only ? 0600 : 0644;
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, bits));
  if (!file && errno == EEXIST) {
    return Error{ErrorCode::conflict, path +
                                          " is there already; move it away, or name another "
                                          "directory"};
  }
  if (!file) return failed("written", path);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file.number(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("written", path);
    done += static_cast<std::size_t>(count);
  }
  if (::fsync(file.number()) != 0) return failed("written", path);
  return ok();
}

// Each directory on the way that is not there is made private too, whatever the umask.
Status make_private_directory(const std::string& path) {
  constexpr mode_t kOwnerOnly = 0700;
  std::error_code ignored;  // If it matters, the next call fails too.
  if (std::filesystem::exists(path, ignored)) return ok();
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (!parent.empty() && parent != path) PAWL_CHECK(make_private_directory(parent));
  if (::mkdir(path.c_str(), kOwnerOnly) != 0) {
    return errno == EEXIST ? ok() : Status(failed("made", path));
  }
  return ::chmod(path.c_str(), kOwnerOnly) == 0 ? ok() : Status(failed("made private", path));
}

}  // namespace pawl
