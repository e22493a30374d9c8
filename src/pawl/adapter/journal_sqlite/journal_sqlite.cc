#include "pawl/adapter/journal_sqlite/journal_sqlite.h"

#include <sys/stat.h>

#include <utility>

#include "pawl/adapter/journal_sqlite/committer.h"
#include "pawl/adapter/journal_sqlite/copying.h"
#include "pawl/adapter/journal_sqlite/data_directory.h"
#include "pawl/adapter/journal_sqlite/expiring.h"
#include "pawl/adapter/journal_sqlite/lock_file.h"
#include "pawl/adapter/journal_sqlite/lock_holder.h"
#include "pawl/adapter/journal_sqlite/log_owner.h"
#include "pawl/adapter/journal_sqlite/reader.h"
#include "pawl/adapter/journal_sqlite/removal.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/adapter/journal_sqlite/spare_space.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/adapter/journal_sqlite/store_guard.h"
#include "pawl/adapter/journal_sqlite/sweeper.h"
#include "pawl/adapter/journal_sqlite/writes.h"
#include "pawl/port/journal_checks.h"

namespace pawl {
namespace {

using sqlite::Connection;

constexpr int kReaderBusyMs = 2'000;
constexpr int kReaderCacheKiB = 8'192;
constexpr int kWriterCacheKiB = 16'384;
constexpr std::int64_t kLogBytesKept = 32 << 20;  // a longer log file is cut when it starts over

Result<std::unique_ptr<Connection>> connect(const std::string& path, int cache_kib) {
  PAWL_TRY(auto connection, Connection::open(path));
  sqlite3_busy_timeout(connection->handle(), kReaderBusyMs);
  PAWL_CHECK(connection->execute("PRAGMA mmap_size = 0"));
  PAWL_CHECK(connection->execute("PRAGMA cell_size_check = ON"));
  PAWL_CHECK(connection->execute("PRAGMA temp_store = MEMORY"));
  PAWL_CHECK(connection->execute("PRAGMA cache_size = -" + std::to_string(cache_kib)));
  return connection;
}

// SQLite names neither the file nor what could be done.
Result<std::unique_ptr<Connection>> open_connection(const std::string& path, int cache_kib) {
  auto connection = connect(path, cache_kib);
  if (connection || connection.error().code != ErrorCode::corrupt) return connection;
  return Error{ErrorCode::corrupt, path + " is damaged, or has a log that is not its own: " +
                                       connection.error().message +
                                       "; restore the directory from a backup with `pawl restore "
                                       "BACKUP`, which keeps all that is here"};
}

Status prepare_writer(Connection& connection, const SqliteOptions& options) {
  PAWL_CHECK(connection.execute("PRAGMA synchronous = FULL"));
  PAWL_CHECK(connection.execute("PRAGMA secure_delete = FAST"));
  PAWL_CHECK(connection.execute("PRAGMA journal_size_limit = " + std::to_string(kLogBytesKept)));
  if (options.database_pages_max == 0) return ok();
  return connection.execute("PRAGMA max_page_count = " +
                            std::to_string(options.database_pages_max));
}

// What a crash left in the log may be in memory only, from a sync that failed. Written into the
// database and synced there it is durable before anything is built on it.
Status settle_log(Connection& connection, const std::string& database) {
  const int code = sqlite3_wal_checkpoint_v2(connection.handle(), nullptr,
                                             SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code == SQLITE_OK) return ok();
  const Error error = connection.failed("writing the log back");
  if (connection.fault() == sqlite::Fault::busy) {
    const auto holder = sqlite::find_lock_holder(database + "-shm", sqlite::kWriteLockOffset);
    if (holder) {
      return Error{ErrorCode::unavailable,
                   "another process is writing: " + sqlite::describe(*holder)};
    }
  }
  // On a full disk the log stays as it is. Reading goes on, and writing when there is space.
  return connection.fault() == sqlite::Fault::full ? ok() : Status(error);
}

}  // namespace

SqliteJournal::SqliteJournal(Loop& loop, std::string database,
                             std::shared_ptr<sqlite::RunLocks> locks)
    : loop_(loop), database_(std::move(database)), locks_(std::move(locks)) {}

SqliteJournal::~SqliteJournal() {
  copies_.clear();
  expiries_.clear();
  sweeper_.reset();
  committer_.reset();
  reader_.reset();
  // Holds of drives may keep the lock file open, but the store is not: the next one checks it
  // again.
  static_cast<void>(sqlite::try_lock(locks_->file(), sqlite::kOpenOffset, sqlite::LockKind::none));
}

// Whatever part of it found the damage: what can be done is the same.
Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(const std::string& directory, Loop& loop,
                                                           const SqliteOptions& options) {
  auto opened = open_files(directory, loop, options);
  if (opened || opened.error().code != ErrorCode::corrupt) return opened;
  const std::string& message = opened.error().message;
  if (message.find("restore") != std::string::npos) return opened;
  return Error{ErrorCode::corrupt, message + "; restore " + directory +
                                       " from a backup with `pawl restore BACKUP`, which keeps all "
                                       "that is here"};
}

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open_files(const std::string& directory,
                                                                 Loop& loop,
                                                                 const SqliteOptions& options) {
  PAWL_CHECK(sqlite::check_file_system(directory, options.file_system_of(directory)));
  PAWL_TRY(sqlite::OpenedDirectory opened, sqlite::open_directory(directory));
  PAWL_TRY(auto writer, open_connection(opened.database(), kWriterCacheKiB));
  const bool alone = opened.others == sqlite::OpenedDirectory::Others::none;
  PAWL_CHECK(sqlite::prepare_schema(*writer, opened.database(),
                                    alone ? sqlite::Access::alone : sqlite::Access::shared));
  if (alone) PAWL_CHECK(sqlite::check_log_owner(*writer, opened.database()));
  PAWL_CHECK(prepare_writer(*writer, options));
  PAWL_TRY(auto guard, sqlite::StoreGuard::open(opened.path, opened.locks, *writer));
  const sqlite::Shortfall shortfall = guard->shortfall();
  if (alone && shortfall.none()) PAWL_CHECK(settle_log(*writer, opened.database()));
  PAWL_TRY(auto reader, open_connection(opened.database(), kReaderCacheKiB));
  SqliteOptions complete = options;
  if (!complete.has_space_for) {
    complete.has_space_for = [path = opened.path](std::uint64_t bytes) {
      return sqlite::has_space_beyond_spared(path, bytes);
    };
  }
  std::unique_ptr<SqliteJournal> journal(new SqliteJournal(loop, opened.database(), opened.locks));
  journal->torn_bytes_ = opened.torn_bytes;
  journal->reader_ = std::make_unique<sqlite::Reader>(std::move(reader));
  journal->committer_ =
      std::make_unique<sqlite::Committer>(std::move(writer), loop, complete, std::move(guard));
  journal->committer_->on_written(
      [reader = journal->reader_.get()](const sqlite::Written& one) { reader->note(one); });
  if (!shortfall.none()) journal->refuse_writes(shortfall);
  journal->sweeper_ = std::make_unique<sqlite::Sweeper>(*journal->committer_, loop);
  PAWL_TRY(const StoreSize size, journal->reader_->size());
  if (size.removing > 0 && shortfall.none()) journal->sweeper_->start();
  PAWL_CHECK(sqlite::admit_others(opened));
  return journal;
}

void SqliteJournal::refuse_writes(const sqlite::Shortfall& shortfall) {
  is_backup_ = shortfall.is_backup;
  refusal_ = Error{ErrorCode::unavailable,
                   database_ + ": " + shortfall.why +
                       ". Nothing is driven or changed; reading works. If the rest of it is "
                       "elsewhere, restore it (pawl restore BACKUP); else `pawl doctor --accept` "
                       "goes on with what is here, and takes the calls that may have been made "
                       "meanwhile for doubtful"};
  committer_->refuse(*refusal_);
}

Result<RunLease> SqliteJournal::acquire(const RunId& run) {
  if (refusal_) return *refusal_;
  PAWL_TRY(auto hold, locks_->take(run));
  PAWL_TRY(const bool exists, reader_->exists(run));
  // While the lock is held nobody else makes the run, except our own append that is on its way.
  if (!exists && !committer_->order().has_waiting(run.text)) return RunLease{1, 0, std::move(hold)};
  const auto position = std::make_shared<sqlite::Position>();
  const std::int64_t now_ms = loop_.wall_ms();
  PAWL_CHECK(committer_->run_now([run, position, now_ms](Connection& connection) -> Status {
    PAWL_TRY(*position, sqlite::write_acquire(connection, run, now_ms));
    return ok();
  }));
  if (position->quarantined) {
    return Error{ErrorCode::corrupt,
                 "run " + run.text + " is quarantined: " + *position->quarantined};
  }
  return RunLease{position->epoch, position->length, std::move(hold)};
}

void SqliteJournal::append(Append append, StatusCallback done) {
  std::optional<Error> refusal;
  if (Status status = check_limits(append); !status) refusal = std::move(status).error();
  sqlite::Job job;
  job.bytes = sqlite::size_of(append);
  job.done = std::move(done);
  job.append = std::move(append);
  committer_->submit(std::move(job), std::move(refusal));
}

Status SqliteJournal::quarantine(const RunId& run, const std::string& why) {
  return committer_->run_now([run, why, now_ms = loop_.wall_ms()](Connection& connection) {
    return sqlite::write_quarantine(connection, run, why, now_ms);
  });
}

Status SqliteJournal::forgive(const RunId& run, std::uint64_t epoch) {
  return committer_->run_now([run, epoch](Connection& connection) {
    return sqlite::write_forgiven(connection, run, epoch);
  });
}

Status SqliteJournal::lift_quarantine(const RunSummary& summary) {
  return committer_->run_now([summary, now_ms = loop_.wall_ms()](Connection& connection) {
    return sqlite::write_lifted(connection, summary, now_ms);
  });
}

void SqliteJournal::post(const RunId& run, std::int64_t at_ms, std::string body,
                         StatusCallback done) {
  std::optional<Error> refusal;
  if (Status status = check_inbox_limits(body); !status) {
    refusal = std::move(status).error();
  }
  sqlite::Job job{"", body.size(), nullptr, std::move(done)};
  job.on_full = sqlite::Job::OnFull::fail;  // whoever sends it is told, and can act otherwise
  job.work = [run, at_ms, body = std::move(body)](Connection& connection) {
    return sqlite::write_inbox(connection, run, at_ms, body);
  };
  committer_->submit(std::move(job), std::move(refusal));
}

void SqliteJournal::drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
                         StatusCallback done) {
  sqlite::Job job{"", rows.size() * sizeof(std::uint64_t), nullptr, std::move(done)};
  job.work = [run, epoch, rows = std::move(rows)](Connection& connection) {
    return sqlite::write_drop(connection, run, epoch, rows);
  };
  committer_->submit(std::move(job));
}

Result<std::vector<StoredRecord>> SqliteJournal::read(const RunId& run, std::uint64_t from,
                                                      std::size_t bytes_max) {
  return reader_->read(run, from, bytes_max);
}

Result<std::string> SqliteJournal::blob(const RunId& run, const Digest& digest) {
  return reader_->blob(run, digest);
}

Result<std::optional<StoredSnapshot>> SqliteJournal::snapshot(const RunId& run) {
  return reader_->snapshot(run);
}

Result<std::optional<std::int64_t>> SqliteJournal::expired_at(const RunId& run,
                                                              const Digest& digest) {
  return reader_->expired_at(run, digest);
}

Result<std::vector<RunSummary>> SqliteJournal::list(const ListQuery& query) {
  return reader_->list(query);
}

Result<std::uint64_t> SqliteJournal::version() {
  return reader_->version();
}

Result<bool> SqliteJournal::is_driven(const RunId& run) {
  return locks_->is_taken(run);
}

Result<std::vector<RunId>> SqliteJournal::addressed() {
  return reader_->addressed();
}

Result<std::vector<InboxRow>> SqliteJournal::pending(const RunId& run) {
  return reader_->pending(run);
}

void SqliteJournal::remove(const RunId& run, StatusCallback done) {
  const auto number = std::make_shared<std::int64_t>(0);
  auto hold = locks_->take(run);
  std::optional<Error> refusal;
  if (!hold) refusal = hold.error();
  sqlite::Job job;
  job.on_full = sqlite::Job::OnFull::fail;
  job.work = [run, number](Connection& connection) -> Status {
    PAWL_TRY(*number, sqlite::write_removal(connection, run));
    return ok();
  };
  // Held until the run is gone for everybody; its id is free from then on.
  job.done = [this, number, done = std::move(done),
              hold = hold ? *hold : nullptr](const Status& status) mutable {
    hold.reset();
    if (!status) return done(status);
    sweeper_->sweep(*number, std::move(done));
  };
  committer_->submit(std::move(job), std::move(refusal));
}

void SqliteJournal::compact(std::function<void(Result<std::uint64_t>)> done) {
  sweeper_->compact(std::move(done));
}

Result<StoreSize> SqliteJournal::size() {
  PAWL_TRY(StoreSize size, reader_->size());
  struct stat info{};
  if (::stat((database_ + "-wal").c_str(), &info) == 0) {
    size.log_bytes = static_cast<std::uint64_t>(info.st_size);
  }
  return size;
}

Result<std::vector<RunSize>> SqliteJournal::run_sizes() {
  return reader_->run_sizes();
}

Status SqliteJournal::check() {
  if (refusal_ && !is_backup_) return Error{ErrorCode::corrupt, refusal_->message};
  return reader_->check();
}

void SqliteJournal::copy_to(const std::string& target, StatusCallback done) {
  // A copy has no mark: it would be driven as if nothing were missing.
  if (refusal_) return loop_.post([done = std::move(done), why = *refusal_] { done(why); });
  std::erase_if(copies_, [](const auto& copying) { return copying->is_over(); });
  copies_.push_back(std::make_unique<sqlite::Copying>(database_, target, loop_, std::move(done)));
}

Result<std::vector<KeptBlob>> SqliteJournal::kept_blobs(const RunId& run) {
  return reader_->kept_blobs(run);
}

void SqliteJournal::expire(Expiry expiry, StatusCallback done) {
  std::erase_if(expiries_, [](const auto& expiring) { return expiring->is_over(); });
  auto hold = locks_->take(expiry.run);
  expiries_.push_back(std::make_unique<sqlite::Expiring>(*committer_, loop_, std::move(expiry),
                                                         std::move(hold), std::move(done)));
}

Status SqliteJournal::checkpoint() {
  return committer_->checkpoint();
}

}  // namespace pawl
