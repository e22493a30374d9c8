#include "pawl/adapter/journal_sqlite/private_copy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/mark.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl {
namespace {

constexpr mode_t kCopyMode = 0600;
constexpr int kTriesMax = 5;
constexpr std::size_t kSentAtOnce = std::size_t{16} << 20U;
constexpr std::size_t kLogHeaderBytes = 32;

std::string in(const std::string& directory, const char* name) {
  return directory + "/" + name;
}

Error unreadable(const std::string& path) {
  return Error{ErrorCode::unavailable, path + " cannot be read: " + describe_errno(errno)};
}

// What changes when the log starts over, or the database is written without one.
struct LogState {
  std::array<char, kLogHeaderBytes> header{};
  bool has_log = false;
  struct timespec database_written{};

  friend bool operator==(const LogState& a, const LogState& b) {
    if (a.has_log || b.has_log) return a.has_log == b.has_log && a.header == b.header;
    return a.database_written.tv_sec == b.database_written.tv_sec &&
           a.database_written.tv_nsec == b.database_written.tv_nsec;
  }
};

LogState look_at(const std::string& data) {
  LogState state;
  const Descriptor log(::open(in(data, sqlite::kLogName).c_str(), O_RDONLY | O_CLOEXEC));
  state.has_log = log && ::pread(log.number(), state.header.data(), state.header.size(), 0) ==
                             static_cast<ssize_t>(state.header.size());
  struct stat info{};
  if (::stat(in(data, sqlite::kDatabaseName).c_str(), &info) == 0) {
    state.database_written = info.st_mtim;
  }
  return state;
}

Status copy_one(const std::string& from, const std::string& to, std::uint64_t& left) {
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!source) return errno == ENOENT ? ok() : Status(unreadable(from));
  const Descriptor made(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kCopyMode));
  if (!made) return unreadable(to);
  while (true) {
    const ssize_t sent = ::sendfile(made.number(), source.number(), nullptr, kSentAtOnce);
    if (sent == 0) return ok();
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      return Error{ErrorCode::unavailable,
                   from + " cannot be copied to " + to + ": " + describe_errno(errno)};
    }
    if (static_cast<std::uint64_t>(sent) > left) {
      return Error{ErrorCode::limit_exceeded,
                   from +
                       " is too large to be read through a private copy; copy the directory "
                       "with cp -a and name the copy with --data DIR"};
    }
    left -= static_cast<std::uint64_t>(sent);
  }
}

}  // namespace

std::string unwritable_part(const std::string& data) {
  if (::access(data.c_str(), F_OK) != 0) return "";
  if (::access(data.c_str(), W_OK) != 0) return data;
  for (const char* name :
       {sqlite::kDatabaseName, sqlite::kLogName, sqlite::kIndexName, sqlite::kLockName}) {
    const std::string path = in(data, name);
    if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), W_OK) != 0) return path;
  }
  return "";
}

Result<std::unique_ptr<PrivateCopy>> PrivateCopy::make(const std::string& data,
                                                       std::uint64_t bytes_max) {
  const std::string database = in(data, sqlite::kDatabaseName);
  // Another user's directory, say: nobody can tell what is in it.
  if (::access(database.c_str(), F_OK) != 0 && errno == EACCES) return unreadable(database);
  if (!sqlite::is_present(database)) {
    return Error{ErrorCode::not_found, "there are no runs in " + data};
  }
  std::error_code fault;
  std::string path = (std::filesystem::temp_directory_path(fault) / "pawl-look-XXXXXX").string();
  if (fault || ::mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::unavailable,
                 "no directory for a private copy of " + data + " can be made in " +
                     std::filesystem::path(path).parent_path().string() + ": " +
                     describe_errno(errno) + "; name one with TMPDIR"};
  }
  std::unique_ptr<PrivateCopy> copy(new PrivateCopy);
  copy->path_ = path;
  // Pages that a writer moves from the log into the database meanwhile are in both. Only a log that
  // starts over would leave pages out.
  for (int tries = 0; tries < kTriesMax; ++tries) {
    std::uint64_t left = bytes_max;
    const LogState before = look_at(data);
    std::error_code ignored;  // It is not there at first.
    std::filesystem::remove(in(path, sqlite::kLogName), ignored);
    // The mark first: what is copied after it can only be more.
    PAWL_CHECK(copy_one(in(data, sqlite::kMarkName), in(path, sqlite::kMarkName), left));
    PAWL_CHECK(copy_one(in(data, sqlite::kDatabaseName), in(path, sqlite::kDatabaseName), left));
    if (before.has_log) {
      PAWL_CHECK(copy_one(in(data, sqlite::kLogName), in(path, sqlite::kLogName), left));
    }
    if (look_at(data) == before) return copy;
  }
  return Error{ErrorCode::unavailable, data + " is being written too fast to be copied; try again"};
}

PrivateCopy::~PrivateCopy() {
  std::error_code ignored;  // It is private, and the system tidies its temporary files.
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace pawl
