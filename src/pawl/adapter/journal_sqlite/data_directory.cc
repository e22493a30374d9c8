#include "pawl/adapter/journal_sqlite/data_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/wal_check.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::sqlite {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;
constexpr std::size_t kDatabaseHeaderBytes = 100;
constexpr std::string_view kDatabaseMagic{"SQLite format 3\0", 16};
constexpr std::size_t kReadVersionOffset = 19;
constexpr std::uint8_t kReadVersionOfLog = 2;
constexpr std::string_view kRollbackMagic{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8};

Error refused(const std::string& path, const std::string& why) {
  return Error{ErrorCode::invalid_argument, path + " " + why};
}

Error system_error(const std::string& path, const std::string& what) {
  return Error{ErrorCode::unavailable, path + " " + what + ": " + describe_errno(errno)};
}

// Like mkdir -p, private whatever the umask, and durable: its name is in the directory above.
Status make_directory(const std::filesystem::path& path) {
  std::error_code fault;
  if (std::filesystem::exists(path, fault)) return ok();
  const std::filesystem::path parent = path.parent_path();
  if (!parent.empty()) PAWL_CHECK(make_directory(parent));
  if (::mkdir(path.c_str(), kDirectoryMode) != 0) {
    return errno == EEXIST ? ok() : Status(system_error(path.string(), "cannot be created"));
  }
  if (::chmod(path.c_str(), kDirectoryMode) != 0) {
    return system_error(path.string(), "cannot be made private");
  }
  return sync_directory(parent.empty() ? "." : parent.string());
}

Status check_directory(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return system_error(path, "cannot be read");
  if (!S_ISDIR(info.st_mode)) return refused(path, "is not a directory");
  if (info.st_uid != ::geteuid()) {
    return refused(path, "belongs to another user (uid " + std::to_string(info.st_uid) +
                             "); name one of your own with --data");
  }
  if ((info.st_mode & kWritableByOthers) != 0) {
    return refused(path, "can be written by other users; chmod go-w it first");
  }
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    return system_error(path, "cannot be written, so nothing would be kept");
  }
  return ok();
}

Result<std::string> absolute_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), ::free);
  if (!resolved) return system_error(path, "cannot be resolved");
  return std::string(resolved.get());
}

// Of a file that SQLite opens by its name, if it is there.
Status check_kind(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return ok();
  return refused(path, "is not a file; move it away. Nothing was changed");
}

bool is_there(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && (!S_ISREG(info.st_mode) || info.st_size > 0);
}

// A private file of ours, made if it is not there.
Result<Descriptor> open_private(const std::string& path) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  Descriptor file(::open(path.c_str(), flags, kFileMode));
  if (!file) return system_error(path, "cannot be opened");
  struct stat info{};
  if (::fstat(file.number(), &info) != 0) return system_error(path, "cannot be read");
  if (!S_ISREG(info.st_mode)) return refused(path, "is not a file");
  if ((info.st_mode & 07777U) != kFileMode && ::fchmod(file.number(), kFileMode) != 0) {
    return system_error(path, "cannot be made private");
  }
  return file;
}

using DatabaseHeader = std::array<std::uint8_t, kDatabaseHeaderBytes>;

std::uint32_t big_endian_at(const DatabaseHeader& header, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) value = value << 8U | header[offset + byte];
  return value;
}

std::uint32_t page_bytes_of(const DatabaseHeader& header) {
  const std::uint32_t stored = std::uint32_t{header[16]} << 8U | header[17];
  return stored == 1 ? 65536 : stored;
}

// Nothing: there is no database yet, or one whose making was interrupted.
Result<std::optional<DatabaseHeader>> read_header(const std::string& directory) {
  const std::string path = directory + "/" + kDatabaseName;
  // Not waiting for whoever may write to a pipe.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return std::optional<DatabaseHeader>();
    return system_error(path, "cannot be opened");
  }
  PAWL_CHECK(check_kind(path));
  DatabaseHeader header{};
  const ssize_t got = ::pread(file.number(), header.data(), header.size(), 0);
  if (got < 0) return system_error(path, "cannot be read");
  const bool blank = std::all_of(header.begin(), header.end(), [](auto byte) { return byte == 0; });
  if (got == 0 || (blank && is_there(path + "-journal"))) return std::optional<DatabaseHeader>();
  const std::string_view magic(reinterpret_cast<const char*>(header.data()), kDatabaseMagic.size());
  if (got < static_cast<ssize_t>(header.size()) || magic != kDatabaseMagic) {
    return refused(path,
                   "is not a database; nothing was changed. If it was one, put a backup "
                   "in its place with `pawl restore BACKUP`");
  }
  return std::optional<DatabaseHeader>(header);
}

// A store has a rollback journal only while it is made, and a log only afterwards. SQLite would put
// the pages of a journal that was left, or laid, beside a log in the place of newer ones.
Status check_rollback(const std::string& directory, const DatabaseHeader& header) {
  const std::string path = directory + "/" + kDatabaseName + "-journal";
  PAWL_CHECK(check_kind(path));
  const bool has_log = header[kReadVersionOffset] == kReadVersionOfLog;
  if (!has_log || !is_present(directory + "/" + kLogName)) return ok();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::array<char, kRollbackMagic.size()> magic{};
  const bool hot = file && ::pread(file.number(), magic.data(), magic.size(), 0) ==
                               static_cast<ssize_t>(magic.size());
  if (!hot || std::string_view(magic.data(), magic.size()) != kRollbackMagic) return ok();
  return Error{ErrorCode::corrupt, path + " is of another database, or of an older state of this " +
                                       "one; move it away. Nothing was changed"};
}

// An index or a log, however short, is made when the tables are durable.
Status check_new(const std::string& directory) {
  for (const char* name : {kLogName, kIndexName}) {
    if (!is_present(directory + "/" + name)) continue;
    return Error{ErrorCode::corrupt,
                 directory + "/" + kDatabaseName + " is missing or empty, but " + name +
                     " shows that there was one; restore the directory from a backup (pawl restore "
                     "BACKUP), or name another one with --data. Nothing was changed"};
  }
  return ok();
}

Status make_database(const std::string& directory) {
  const std::string path = directory + "/" + kDatabaseName;
  // SQLite gives its log and index the mode of the database.
  PAWL_TRY(const Descriptor file, open_private(path));
  return sync_directory(directory);
}

}  // namespace

Status sync_directory(const std::string& path) {
  const Descriptor handle(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle || ::fsync(handle.number()) != 0) return system_error(path, "cannot be synced");
  return ok();
}

Result<Descriptor> open_lock_file(const std::string& directory) {
  return open_private(directory + "/" + kLockName);
}

bool is_present(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

static std::uint64_t size_of_file(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

Result<std::uint64_t> check_files(const std::string& directory) {
  const std::string log = directory + "/" + kLogName;
  PAWL_TRY(const auto header, read_header(directory));
  if (!header) {
    PAWL_CHECK(check_new(directory));
    return std::uint64_t{0};
  }
  PAWL_CHECK(check_kind(log));
  PAWL_CHECK(check_kind(directory + "/" + kIndexName));
  PAWL_CHECK(check_rollback(directory, *header));
  Identity identity{big_endian_at(*header, 68), big_endian_at(*header, 60)};
  PAWL_CHECK(check_identity(identity, directory + "/" + kDatabaseName));
  const std::uint32_t page_bytes = page_bytes_of(*header);
  DatabaseSize size{page_bytes};
  if (page_bytes > 0) size.pages = size_of_file(directory + "/" + kDatabaseName) / page_bytes;
  PAWL_TRY(const LogReport report, check_log(log, size));
  if (report.identity) identity = *report.identity;
  PAWL_CHECK(check_identity(identity, directory + "/" + kDatabaseName));
  return report.torn_bytes;
}

// The directory may have been exchanged for another one while we waited for the first one's lock.
static Status check_same_file(const Descriptor& first, const Descriptor& second,
                              const std::string& directory) {
  struct stat before{};
  struct stat now{};
  const bool known = ::fstat(first.number(), &before) == 0 && ::fstat(second.number(), &now) == 0;
  if (known && before.st_dev == now.st_dev && before.st_ino == now.st_ino) return ok();
  return Error{ErrorCode::unavailable,
               directory + " was replaced while it was being opened; try again"};
}

Result<OpenedDirectory> open_directory(const std::string& path) {
  PAWL_CHECK(make_directory(path));
  PAWL_CHECK(check_directory(path));
  OpenedDirectory opened;
  PAWL_TRY(opened.path, absolute_path(path));
  const std::string lock_path = opened.path + "/" + kLockName;
  struct stat info{};
  if (::lstat(lock_path.c_str(), &info) != 0) {
    // Nobody has this store open. Even a lock file would be a change to one that is refused.
    PAWL_TRY(opened.torn_bytes, check_files(opened.path));
  }
  PAWL_TRY(opened.opening, open_lock_file(opened.path));
  PAWL_CHECK(lock_opening(opened.opening, lock_path));
  PAWL_TRY(Descriptor file, open_lock_file(opened.path));
  PAWL_CHECK(check_same_file(opened.opening, file, opened.path));
  opened.locks = std::make_shared<RunLocks>(std::move(file));
  PAWL_TRY(const bool alone, try_lock(opened.locks->file(), kOpenOffset, LockKind::exclusive));
  if (!alone) {
    PAWL_TRY(const bool shared, try_lock(opened.locks->file(), kOpenOffset, LockKind::shared));
    if (!shared) return Error{ErrorCode::unavailable, opened.path + " is held by another program"};
    opened.others = OpenedDirectory::Others::some;
    return opened;
  }
  PAWL_TRY(opened.torn_bytes, check_files(opened.path));
  PAWL_CHECK(make_database(opened.path));
  return opened;
}

Status admit_others(OpenedDirectory& directory) {
  // From exclusive to shared: nobody can be in the way.
  PAWL_TRY(const bool shared, try_lock(directory.locks->file(), kOpenOffset, LockKind::shared));
  PAWL_ASSERT(shared);
  directory.opening = Descriptor();
  return ok();
}

}  // namespace pawl::sqlite
