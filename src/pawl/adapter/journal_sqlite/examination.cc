#include "pawl/adapter/journal_sqlite/examination.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <unordered_map>

#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/lock_file.h"
#include "pawl/adapter/journal_sqlite/log_owner.h"
#include "pawl/adapter/journal_sqlite/mark.h"
#include "pawl/adapter/journal_sqlite/reader.h"
#include "pawl/adapter/journal_sqlite/removal.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/adapter/journal_sqlite/store_row.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::sqlite {
namespace {

constexpr int kBusyMs = 2'000;

std::uint64_t bytes_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

Descriptor examine_lock(const std::string& directory, Examination& found) {
  const std::string path = directory + "/" + kLockName;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return file;
    found.lock = Examination::Lock::unusable;
    found.lock_fault = path + ": " + describe_errno(errno);
    return file;
  }
  struct stat info{};
  if (::fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode)) {
    found.lock = Examination::Lock::unusable;
    found.lock_fault = path + " is not a file; move it away";
    return Descriptor();
  }
  const auto taken = is_locked(file, kOpenOffset);
  found.lock = taken ? Examination::Lock::usable : Examination::Lock::unusable;
  if (!taken) found.lock_fault = taken.error().message;
  found.open_elsewhere = taken && *taken;
  return file;
}

// Without its log where nobody has it open and the log is empty: that needs no other file. A log
// that is not empty needs its index; where there is none, the newest part is left out rather than a
// file made.
Result<std::unique_ptr<Connection>> open_to_look(const std::string& database,
                                                 const Examination& found) {
  const bool log = bytes_of(database + "-wal") > 0 && is_present(database + "-shm");
  PAWL_TRY(auto connection, Connection::open_to_read(database, found.open_elsewhere || log
                                                                   ? Connection::Log::included
                                                                   : Connection::Log::ignored));
  sqlite3_busy_timeout(connection->handle(), kBusyMs);
  return connection;
}

Status examine_runs(Connection& connection, Reader& reader, const Descriptor& lock,
                    Examination& found) {
  std::unordered_map<std::string, std::uint64_t> bytes;
  PAWL_TRY(const auto sizes, sizes_of_runs(connection));
  for (const RunSize& size : sizes) bytes[size.id.text] = size.bytes;
  ListQuery query;
  query.count_max = SIZE_MAX;
  PAWL_TRY(auto summaries, reader.list(query));
  for (RunSummary& summary : summaries) {
    ExaminedRun run{std::move(summary), false, 0};
    run.bytes = bytes[run.summary.id.text];
    if (lock) {
      PAWL_TRY(run.driven, is_locked(lock, lock_offset(run.summary.id)));
    }
    found.runs.push_back(std::move(run));
  }
  return ok();
}

// Nothing: there is none, or it is damaged.
std::optional<Mark> mark_in(const std::string& directory) {
  const auto file = MarkFile::open(directory, MarkFile::Mode::existing);
  if (!file) return std::nullopt;
  const auto mark = file->read();
  return mark ? *mark : std::nullopt;
}

// Without the log, where it has something, the tables are behind by themselves.
Status examine_mark(Connection& tables, const std::string& database,
                    const std::optional<Mark>& mark, Examination& found) {
  if (bytes_of(database + "-wal") > 0 && !is_present(database + "-shm")) return ok();
  const auto row = read_store(tables);
  if (!row && row.error().code != ErrorCode::corrupt) return row.error();
  if (!row) {
    found.shortfall = row.error().message;
  } else if (row->marked != kUnmarked || (mark && mark->store != row->id)) {
    PAWL_TRY(const Shortfall shortfall, compare_with_mark(tables, mark));
    found.shortfall = shortfall.why;
    found.is_backup = shortfall.is_backup;
  }
  return ok();
}

Status examine_tables(const std::string& database, const Descriptor& lock, Examination& found) {
  // Before the tables are read: they can only have more by then.
  const auto mark = mark_in(database.substr(0, database.rfind('/')));
  PAWL_TRY(auto connection, open_to_look(database, found));
  Connection& tables = *connection;
  PAWL_TRY(const std::int64_t version, tables.integer_of("PRAGMA user_version"));
  found.schema_version = static_cast<std::uint32_t>(version);
  if (version == 0) {
    found.database = Examination::Database::refused;
    found.refusal = no_version(database).message;
    return ok();
  }
  Status whole = check_tables(tables, database);
  if (whole && !found.open_elsewhere) whole = check_log_owner(tables, database);
  if (!whole) {
    found.database = Examination::Database::refused;
    found.refusal = whole.error().message;
    return ok();
  }
  PAWL_CHECK(examine_mark(tables, database, mark, found));
  PAWL_TRY(found.size, size_of_store(tables));
  found.size.log_bytes = bytes_of(database + "-wal");
  PAWL_TRY(const std::int64_t blobs,
           tables.integer_of("SELECT coalesce(sum(length(bytes)), 0) FROM blobs"));
  found.blob_bytes = static_cast<std::uint64_t>(blobs);
  Reader reader(std::move(connection));
  return examine_runs(tables, reader, lock, found);
}

}  // namespace

Result<Examination> examine_store(const std::string& directory) {
  Examination found;
  const Descriptor lock = examine_lock(directory, found);
  const std::string database = directory + "/" + kDatabaseName;
  if (!is_present(database)) return found;
  found.database = Examination::Database::readable;
  Result<std::uint64_t> torn = std::uint64_t{0};
  // Somebody who has it open has checked it, and may be writing to the log now.
  if (!found.open_elsewhere) torn = check_files(directory);
  if (!torn && lock) {
    PAWL_TRY(found.open_elsewhere, is_locked(lock, kOpenOffset));
  }
  if (!torn && !found.open_elsewhere) {
    found.database = Examination::Database::refused;
    found.refusal = torn.error().message;
    return found;
  }
  if (torn) found.torn_bytes = *torn;
  const Status examined = examine_tables(database, lock, found);
  if (!examined) return Error{examined.error().code, database + ": " + examined.error().message};
  return found;
}

std::string library_version() {
  return sqlite3_libversion();
}

}  // namespace pawl::sqlite
