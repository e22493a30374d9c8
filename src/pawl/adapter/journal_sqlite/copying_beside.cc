#include "pawl/adapter/journal_sqlite/copying_beside.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "pawl/adapter/journal_sqlite/copying.h"
#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/ledger.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::sqlite {
namespace {

constexpr mode_t kBesideDirectoryMode = 0700;
constexpr mode_t kBesideFileMode = 0600;
constexpr int kLedgerBusyMs = 30'000;
constexpr std::size_t kPieceBytes = std::size_t{8} << 20U;
constexpr std::array<const char*, 4> kBeside = {"remembered.jsonl", "inputs", "artifacts", "git"};
// Of a git directory that a session writes to: what names objects is copied before them, so that
// the copy has all that it names.
constexpr const char* kCopiedLast = "objects";

Error not_copied(const std::string& path) {
  return Error{ErrorCode::unavailable, path + " cannot be copied: " + describe_errno(errno)};
}

class TreeCopy {
 public:
  explicit TreeCopy(const std::atomic<bool>& stop) : stop_(stop) {}

  // What is neither a file, a directory nor a link is left out, and so is what has gone meanwhile.
  Status copy(const std::string& from, const std::string& to, int depth) {
    if (stop_) return Error{ErrorCode::cancelled, "the copy was stopped"};
    struct stat info{};
    if (::lstat(from.c_str(), &info) != 0) return errno == ENOENT ? ok() : Status(not_copied(from));
    if (++files_ > kBesideFilesMax || depth > kBesideDepthMax) {
      return Error{ErrorCode::limit_exceeded,
                   from + ": more than " + std::to_string(kBesideFilesMax) +
                       " files, or too deep; remove old outputs with pawl gc --artifacts"};
    }
    if (S_ISDIR(info.st_mode)) return copy_directory(from, to, depth);
    if (S_ISLNK(info.st_mode)) return copy_link(from, to);
    return S_ISREG(info.st_mode) ? copy_file(from, to, info) : ok();
  }

 private:
  Status copy_directory(const std::string& from, const std::string& to, int depth) {
    if (::mkdir(to.c_str(), kBesideDirectoryMode) != 0) return not_copied(to);
    std::error_code fault;
    bool has_last = false;
    for (const auto& entry : std::filesystem::directory_iterator(from, fault)) {
      const std::string name = entry.path().filename().string();
      has_last = has_last || name == kCopiedLast;
      if (name != kCopiedLast) PAWL_CHECK(copy(from + "/" + name, to + "/" + name, depth + 1));
    }
    if (fault) return Error{ErrorCode::unavailable, from + ": " + fault.message()};
    const std::string last = std::string("/") + kCopiedLast;
    if (has_last) PAWL_CHECK(copy(from + last, to + last, depth + 1));
    const Descriptor made(::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return made && ::fsync(made.number()) == 0 ? ok() : Status(not_copied(to));
  }

  static Status copy_link(const std::string& from, const std::string& to) {
    std::error_code fault;
    std::filesystem::copy_symlink(from, to, fault);
    return fault ? Status(Error{ErrorCode::unavailable, from + ": " + fault.message()}) : ok();
  }

  Status copy_file(const std::string& from, const std::string& to, const struct stat& info) {
    const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!source) return errno == ENOENT ? ok() : Status(not_copied(from));
    const mode_t mode = kBesideFileMode | (info.st_mode & S_IXUSR);
    const Descriptor made(
        ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!made) return not_copied(to);
    while (true) {
      if (stop_) return Error{ErrorCode::cancelled, "the copy was stopped"};
      const ssize_t sent = ::sendfile(made.number(), source.number(), nullptr, kPieceBytes);
      if (sent == 0) break;
      if (sent < 0 && errno != EINTR) return not_copied(from);
    }
    return ::fsync(made.number()) == 0 ? ok() : Status(not_copied(to));
  }

  const std::atomic<bool>& stop_;
  std::size_t files_ = 0;
};

Status copy_ledger(const std::string& source, const std::string& target) {
  const std::string ledger = source + "/" + kLedgerName;
  if (!is_present(ledger)) return ok();
  PAWL_TRY(const auto connection, Connection::open(ledger));
  sqlite3_busy_timeout(connection->handle(), kLedgerBusyMs);
  PAWL_CHECK(copy_database(*connection, target + "/" + kLedgerName));
  return separate_ledger(target + "/" + kLedgerName);
}

}  // namespace

Status copy_beside(const std::string& source, const std::string& target,
                   const std::atomic<bool>& stop) {
  PAWL_CHECK(copy_ledger(source, target));
  TreeCopy tree(stop);
  for (const std::string name : kBeside) {
    PAWL_CHECK(tree.copy(source + "/" + name, target + "/" + name, 0));
  }
  return ok();
}

}  // namespace pawl::sqlite
