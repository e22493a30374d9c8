#include "pawl/adapter/journal_sqlite/copying.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <utility>
#include <vector>

#include "pawl/adapter/journal_sqlite/copying_beside.h"
#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/adapter/journal_sqlite/store_row.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::sqlite {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr int kInstructionsBetweenLooks = 10'000;
constexpr int kBusyMs = 30'000;
constexpr const char* kCopy = "VACUUM INTO ?";
constexpr const char* kPartial = ".partial-";  // and the process that writes it

Error failed(const std::string& path, const std::string& what) {
  return Error{ErrorCode::unavailable, path + " " + what + ": " + describe_errno(errno)};
}

Status sync_path(const std::string& path, int flags) {
  const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file || ::fsync(file.number()) != 0) return failed(path, "cannot be synced");
  return ok();
}

// Made before SQLite writes it, which would make it by the umask.
Status make_file(const std::string& path) {
  const Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file) return failed(path, "cannot be created");
  return ok();
}

Status sync_parent(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return sync_path(parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY);
}

Error exists(const std::string& target) {
  return Error{ErrorCode::conflict, target + " is there already; name a directory that is not"};
}

// Removed with all that is in it, unless it was kept.
class Draft {
 public:
  explicit Draft(std::string path) : path_(std::move(path)) {}
  ~Draft() {
    std::error_code ignored;  // Nothing could be done about it.
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  Status make() const {
    if (::mkdir(path_.c_str(), kDirectoryMode) != 0) return failed(path_, "cannot be created");
    if (::chmod(path_.c_str(), kDirectoryMode) != 0) return failed(path_, "cannot be made private");
    return make_file(database());
  }
  Status keep_as(const std::string& target) {
    PAWL_CHECK(sync_path(database(), O_RDWR));
    PAWL_CHECK(sync_path(path_, O_RDONLY | O_DIRECTORY));
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) != 0) {
      return errno == EEXIST ? exists(target) : failed(target, "cannot be made");
    }
    path_.clear();
    return sync_parent(target);
  }
  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/" + kDatabaseName; }

 private:
  std::string path_;
};

// What a copy to the same place left behind that was killed: space that nobody would give back.
void remove_leftovers(const std::string& wanted) {
  const std::filesystem::path target(wanted);
  const std::string beginning = target.filename().string() + kPartial;
  std::error_code ignored;  // What cannot be looked at or removed is in nobody's way.
  const auto parent = target.has_parent_path() ? target.parent_path() : ".";
  std::vector<std::filesystem::path> dead;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(beginning)) continue;
    pid_t owner = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + beginning.size(), end, owner);
    if (read.ec != std::errc() || read.ptr != end || owner <= 0) continue;
    if (::kill(owner, 0) != 0 && errno == ESRCH) dead.push_back(entry.path());
  }
  for (const auto& path : dead) std::filesystem::remove_all(path, ignored);
}

// A store of its own: what lies beside the first one (its log, its mark) does not belong to it. Its
// runs do not know what they do from now on, so that it says of itself what it is: one that is
// copied into a data directory by hand would make calls a second time.
Status make_backup(const std::string& database) {
  PAWL_TRY(const auto copy, Connection::open(database));
  PAWL_CHECK(copy->execute("PRAGMA journal_mode = DELETE"));
  PAWL_CHECK(copy->execute("BEGIN IMMEDIATE"));
  PAWL_TRY(StoreRow row, read_store(*copy));
  row.id = random_store_id();
  row.marked = kBackup;
  row.log = row.log_before = 0;
  PAWL_CHECK(write_store(*copy, row));
  return copy->execute("COMMIT");
}

int look_whether_to_stop(void* stop) {
  return *static_cast<const std::atomic<bool>*>(stop) ? 1 : 0;
}

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Status copy_database(Connection& connection, const std::string& target) {
  const std::string draft = target + ".partial";
  PAWL_CHECK(make_file(draft));
  Status copied = Query(connection, kCopy).text(draft).run();
  if (copied) copied = sync_path(draft, O_RDWR);
  if (copied && ::rename(draft.c_str(), target.c_str()) != 0) {
    copied = failed(target, "cannot be made");
  }
  if (copied) return sync_parent(target);
  std::error_code ignored;  // The first error is the one to tell.
  std::filesystem::remove(draft, ignored);
  return copied;
}

Status copy_store(const std::string& database, const std::string& target,
                  const std::atomic<bool>& stop) {
  const std::string wanted = without_trailing_slash(target);
  struct stat info{};
  if (::lstat(wanted.c_str(), &info) == 0) return exists(wanted);
  remove_leftovers(wanted);
  Draft draft(wanted + kPartial + std::to_string(::getpid()));
  PAWL_CHECK(draft.make());
  PAWL_TRY(const auto connection, Connection::open(database));
  sqlite3_busy_timeout(connection->handle(), kBusyMs);
  sqlite3_progress_handler(connection->handle(), kInstructionsBetweenLooks, look_whether_to_stop,
                           const_cast<std::atomic<bool>*>(&stop));
  Status copied = Query(*connection, kCopy).text(draft.database()).run();
  if (copied) copied = make_backup(draft.database());
  if (!copied) {
    return Error{copied.error().code, wanted + " was not made: " + copied.error().message};
  }
  const std::string source = std::filesystem::path(database).parent_path().string();
  PAWL_CHECK(copy_beside(source, draft.path(), stop));
  return draft.keep_as(wanted);
}

Copying::Copying(const std::string& database, const std::string& target, Loop& loop,
                 StatusCallback done) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
  thread_ = std::thread([this, database, target, &loop, done = std::move(done),
                         over = std::weak_ptr<bool>(over_)]() mutable {
    Status status = copy_store(database, target, stop_);
    loop.post([status = std::move(status), done = std::move(done), over] {
      const auto alive = over.lock();
      if (!alive) return;
      *alive = true;
      done(status);
    });
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Copying::~Copying() {
  over_.reset();
  stop_ = true;
  thread_.join();
}

}  // namespace pawl::sqlite
