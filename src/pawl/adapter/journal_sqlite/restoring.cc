#include "pawl/adapter/journal_sqlite/restoring.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "pawl/adapter/journal_sqlite/acceptance.h"
#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/ledger.h"
#include "pawl/adapter/journal_sqlite/lock_file.h"
#include "pawl/adapter/journal_sqlite/log_owner.h"
#include "pawl/adapter/journal_sqlite/reader.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/store_guard.h"
#include "pawl/adapter/journal_sqlite/store_row.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kRestoredDirectoryMode = 0700;
constexpr mode_t kRestoredFileMode = 0600;

Error restore_failed(const std::string& path, const std::string& what) {
  return Error{ErrorCode::unavailable, path + " " + what + ": " + describe_errno(errno)};
}

// Removed with all that is in it, unless it was kept.
class RestoreDraft {
 public:
  explicit RestoreDraft(std::string path) : path_(std::move(path)) {}
  ~RestoreDraft() {
    std::error_code ignored;  // Nothing could be done about it.
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  RestoreDraft(const RestoreDraft&) = delete;
  RestoreDraft& operator=(const RestoreDraft&) = delete;
  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

// Keeps everybody else from opening the directory until it is destroyed. Works on a damaged store,
// too: only the lock file is looked at.
class Exclusive {
 public:
  static Result<Exclusive> take(const std::string& directory) {
    Exclusive exclusive;
    PAWL_TRY(exclusive.opening_, open_lock_file(directory));
    PAWL_CHECK(lock_opening(exclusive.opening_, directory + "/" + kLockName));
    PAWL_TRY(exclusive.open_, open_lock_file(directory));
    PAWL_TRY(const bool alone, try_lock(exclusive.open_, kOpenOffset, LockKind::exclusive));
    if (alone) return exclusive;
    return Error{ErrorCode::unavailable, directory +
                                             " is open in another process; end that one first. "
                                             "Nothing was changed"};
  }

 private:
  Descriptor opening_;
  Descriptor open_;
};

// The lock file and the index of the log belong to the processes that have the directory open.
bool belongs_to_a_backup(const std::string& name) {
  return name != kLockName && name != kIndexName;
}

Status copy_files(const std::string& backup, const std::string& draft) {
  if (::mkdir(draft.c_str(), kRestoredDirectoryMode) != 0) {
    return restore_failed(draft, "cannot be created");
  }
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(backup, fault)) {
    if (!belongs_to_a_backup(entry.path().filename().string())) continue;
    fs::copy(entry.path(), fs::path(draft) / entry.path().filename(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks, fault);
    if (fault) {
      return Error{ErrorCode::unavailable,
                   entry.path().string() + " cannot be copied: " + fault.message()};
    }
  }
  if (!fault) return ok();
  return Error{ErrorCode::unavailable, backup + " cannot be read: " + fault.message()};
}

Status make_private(const std::string& path) {
  std::error_code fault;
  for (const auto& entry : fs::recursive_directory_iterator(path, fault)) {
    if (entry.is_symlink()) continue;
    const mode_t mode = entry.is_directory() ? kRestoredDirectoryMode : kRestoredFileMode;
    if (::chmod(entry.path().c_str(), mode) != 0) {
      return restore_failed(entry.path().string(), "cannot be made private");
    }
  }
  return ok();
}

Status sync_all(const std::string& path) {
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_symlink() || (!entry.is_regular_file() && !entry.is_directory())) continue;
    const Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::fsync(file.number()) != 0) {
      return restore_failed(entry.path().string(), "cannot be synced");
    }
  }
  return sync_directory(path);
}

// Another store from now on: what drove its runs elsewhere has no right to them here.
Status renew(Connection& connection, std::int64_t now_ms, Restored& restored) {
  PAWL_CHECK(connection.execute("BEGIN IMMEDIATE"));
  PAWL_TRY(StoreRow row, read_store(connection));
  row.id = random_store_id();
  row.marked = kMarked;
  PAWL_CHECK(write_store(connection, row));
  PAWL_TRY(restored.paused, pause_live_runs(connection, now_ms));
  return connection.execute("COMMIT");
}

Status write_log_back(Connection& connection) {
  const int code = sqlite3_wal_checkpoint_v2(connection.handle(), nullptr,
                                             SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  return code == SQLITE_OK ? ok() : Status(connection.failed("writing the log back"));
}

Status prepare_draft(const std::string& draft, std::int64_t now_ms, Restored& restored) {
  PAWL_TRY(OpenedDirectory opened, open_directory(draft));
  PAWL_TRY(auto connection, Connection::open(opened.database()));
  PAWL_CHECK(prepare_schema(*connection, opened.database()));
  PAWL_CHECK(check_log_owner(*connection, opened.database()));
  PAWL_CHECK(connection->execute("PRAGMA synchronous = FULL"));
  PAWL_CHECK(renew(*connection, now_ms, restored));
  PAWL_CHECK(write_log_back(*connection));
  {
    PAWL_TRY(const auto guard, StoreGuard::open(opened.path, opened.locks, *connection));
    PAWL_CHECK(guard->accept(*connection));
  }
  PAWL_CHECK(accept_ledger(draft));
  return Reader(std::move(connection)).check();
}

// Both names are there at every moment where the file system can do it.
Status change_places(const std::string& draft, const std::string& directory,
                     const std::string& aside) {
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, directory.c_str(), RENAME_EXCHANGE) == 0) {
    if (::rename(draft.c_str(), aside.c_str()) == 0) return ok();
    return restore_failed(aside, "cannot be made; what was there before is in " + draft);
  }
  if (::rename(directory.c_str(), aside.c_str()) != 0) {
    return restore_failed(directory, "cannot be moved aside");
  }
  if (::rename(draft.c_str(), directory.c_str()) == 0) return ok();
  return restore_failed(directory, "cannot be made; what was there before is in " + aside);
}

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// A link stays: the directory that it names is the one that is replaced.
std::string behind_link(const std::string& path) {
  std::error_code fault;
  if (!fs::is_symlink(path, fault)) return path;
  const std::string named = fs::canonical(path, fault).string();
  return fault ? path : named;
}

bool is_same_or_inside(const std::string& backup, const std::string& directory) {
  std::error_code ignored;  // What is not there is neither.
  const std::string inner = fs::weakly_canonical(backup, ignored).string() + "/";
  const std::string outer = fs::weakly_canonical(directory, ignored).string() + "/";
  return inner.starts_with(outer);
}

}  // namespace

Result<Restored> restore_store(const std::string& backup, const std::string& given,
                               std::int64_t now_ms) {
  const std::string directory = behind_link(without_slash(given));
  if (!is_present(backup + "/" + kDatabaseName)) {
    return Error{ErrorCode::not_found,
                 backup + " has no " + kDatabaseName + "; name a directory that pawl backup made"};
  }
  if (is_same_or_inside(backup, directory)) {
    return Error{ErrorCode::invalid_argument,
                 backup + " is in the directory that it would replace; move it elsewhere first"};
  }
  Restored restored;
  std::optional<Exclusive> exclusive;
  const bool is_there = is_present(directory);
  if (is_there) {
    PAWL_TRY(exclusive, Exclusive::take(directory));
  } else {
    std::error_code ignored;  // If it matters, the copy cannot be made.
    fs::create_directories(parent_of(directory), ignored);
  }
  RestoreDraft draft(directory + ".restoring-" + std::to_string(::getpid()));
  PAWL_CHECK(copy_files(backup, draft.path()));
  PAWL_CHECK(make_private(draft.path()));
  PAWL_CHECK(prepare_draft(draft.path(), now_ms, restored));
  PAWL_CHECK(sync_all(draft.path()));
  if (is_there) {
    restored.aside = directory + ".before-restore-" + std::to_string(now_ms);
    const Status changed = change_places(draft.path(), directory, restored.aside);
    draft.keep();
    if (!changed) return changed.error();
  } else {
    if (::rename(draft.path().c_str(), directory.c_str()) != 0) {
      return restore_failed(directory, "cannot be made");
    }
    draft.keep();
  }
  PAWL_CHECK(sync_directory(parent_of(directory)));
  return restored;
}

}  // namespace pawl::sqlite
