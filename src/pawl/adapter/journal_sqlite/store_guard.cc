#include "pawl/adapter/journal_sqlite/store_guard.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/run_row.h"
#include "pawl/adapter/journal_sqlite/store_row.h"

namespace pawl::sqlite {
namespace {

// Somebody may be writing it at this moment.
constexpr int kMarkLooksMax = 10;
constexpr std::chrono::milliseconds kMarkLookPause{1};

Result<std::optional<Mark>> look_at(const MarkFile& file) {
  for (int look = 1;; ++look) {
    PAWL_TRY(const auto mark, file.read());
    if (mark || look == kMarkLooksMax) return mark;
    std::this_thread::sleep_for(kMarkLookPause);
  }
}

Error replaced(const std::string& path) {
  return Error{ErrorCode::unavailable,
               path +
                   " was moved, deleted or replaced while it was in use; nothing was "
                   "acknowledged since. What this process wrote went into the old file. End "
                   "all processes that use the directory before you change its files, and "
                   "restore backups with `pawl restore`"};
}

}  // namespace

bool WatchedFile::is_in_place() {
  struct stat info{};
  if (::lstat(path_.c_str(), &info) != 0) return !seen_;
  const std::pair now{info.st_dev, info.st_ino};
  if (!seen_) seen_ = now;
  return *seen_ == now;
}

StoreGuard::StoreGuard(const std::string& directory, std::shared_ptr<RunLocks> locks)
    : directory_(directory),
      locks_(std::move(locks)),
      files_{WatchedFile(directory + "/" + kLogName), WatchedFile(directory + "/" + kIndexName)} {}

Result<std::unique_ptr<StoreGuard>> StoreGuard::open(const std::string& directory,
                                                     std::shared_ptr<RunLocks> locks,
                                                     Connection& connection) {
  std::unique_ptr<StoreGuard> guard(new StoreGuard(directory, std::move(locks)));
  // The mark first: what the tables hold by then can only be more.
  std::optional<Mark> mark;
  if (auto file = MarkFile::open(directory, MarkFile::Mode::existing)) {
    PAWL_TRY(mark, look_at(*file));
    guard->mark_ = std::move(*file);
  } else if (file.error().code != ErrorCode::not_found) {
    return file.error();
  }
  const auto row = read_store(connection);
  if (!row) {
    if (row.error().code != ErrorCode::corrupt) return row.error();
    guard->shortfall_.why = row.error().message;
    return guard;
  }
  guard->store_ = row->id;
  PAWL_TRY(guard->committed_, read_newest(connection));
  PAWL_TRY(guard->log_, connection.log_name());
  guard->log_named_ = row->log == guard->log_ ? row->log : 0;
  // A new store has no mark yet, or one whose making was interrupted. A backup that was copied into
  // the place of another store finds that one's.
  const bool is_new = row->marked == kUnmarked && (!mark || mark->store == row->id);
  if (is_new) {
    PAWL_TRY(guard->shortfall_.why, missing_runs(connection));
    if (guard->shortfall_.none()) PAWL_CHECK(guard->make_mark(connection));
  } else {
    PAWL_TRY(guard->shortfall_, compare_with_mark(connection, mark));
  }
  for (WatchedFile& file : guard->files_) static_cast<void>(file.is_in_place());
  return guard;
}

// Durable before the store says that there is one.
Status StoreGuard::make_mark(Connection& connection) {
  PAWL_CHECK(accept(connection));
  PAWL_CHECK(connection.execute("BEGIN IMMEDIATE"));
  PAWL_TRY(StoreRow row, read_store(connection));
  row.marked = kMarked;
  PAWL_CHECK(write_store(connection, row));
  return connection.execute("COMMIT");
}

Status StoreGuard::accept(Connection& connection) {
  if (!mark_) {
    PAWL_TRY(MarkFile made, MarkFile::open(directory_, MarkFile::Mode::made));
    mark_ = std::move(made);
  }
  PAWL_TRY(committed_, read_newest(connection));
  const Mark mark{store_, committed_};
  PAWL_CHECK(mark_->write(mark));
  PAWL_CHECK(mark_->sync());
  PAWL_TRY(const auto written, mark_->read());
  if (written != mark) {
    return Error{ErrorCode::unavailable, "there is no space for " + directory_ + "/" + kMarkName};
  }
  PAWL_CHECK(sync_directory(directory_));
  shortfall_ = Shortfall{};
  return ok();
}

void StoreGuard::begin(Connection& connection, bool others_have_written) {
  connection.newest() = committed_;
  if (others_have_written) others_have_written_ = true;
}

Status StoreGuard::after_commit(Connection& connection) {
  PAWL_CHECK(check_files(connection));
  PAWL_CHECK(look_at_log(connection));
  committed_ = connection.newest();
  return raise_mark();
}

Status StoreGuard::look_at_log(Connection& connection) {
  PAWL_TRY(log_, connection.log_name());
  return ok();
}

Status StoreGuard::check_files(Connection& connection) {
  if (!connection.is_in_place()) return replaced(directory_ + "/" + kDatabaseName);
  for (WatchedFile& file : files_) {
    if (!file.is_in_place()) return replaced(file.path());
  }
  return ok();
}

// Whoever has the store to itself need not look at what others have put there.
Status StoreGuard::raise_mark() {
  const Mark mark{store_, committed_};
  PAWL_TRY(const bool shared, is_locked(locks_->file(), kOpenOffset));
  if (!shared && !others_have_written_) return mark_->write(mark);
  PAWL_CHECK(mark_->raise(mark));
  if (!shared) {
    // What they have added is in the tables, too.
    PAWL_TRY(const auto there, mark_->read());
    if (there) committed_ = newer_of(committed_, there->newest);
    others_have_written_ = false;
  }
  return ok();
}

}  // namespace pawl::sqlite
