// The embedded store: one SQLite database in a directory of its own, which several processes may
// have open at once. Layout, locks and checks: docs/journal-sqlite.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/journal_sqlite/options.h"
#include "pawl/loop.h"
#include "pawl/store.h"

namespace pawl {

namespace sqlite {
class Committer;
class Copying;
class Expiring;
class Reader;
class RunLocks;
class Sweeper;
struct Shortfall;
}  // namespace sqlite

class SqliteJournal final : public Journal,
                            public JournalReader,
                            public Catalog,
                            public Inbox,
                            public Upkeep,
                            public Copier,
                            public Retention {
 public:
  // `directory` is made if it is not there (0700, its files 0600). `loop` must outlive the journal.
  // invalid_argument: not a directory that this user alone may write, another program's database,
  // or a newer Pawl's. corrupt: the log is damaged before its end. unavailable: cannot be written.
  // In all these cases nothing was changed.
  static Result<std::unique_ptr<SqliteJournal>> open(const std::string& directory, Loop& loop,
                                                     const SqliteOptions& options = {});
  // What was appended is still written; callbacks not yet delivered are never called. Drives keep
  // their locks until their holds are gone.
  ~SqliteJournal() override;
  SqliteJournal(const SqliteJournal&) = delete;
  SqliteJournal& operator=(const SqliteJournal&) = delete;

  Result<RunLease> acquire(const RunId& run) override;
  void append(Append append, StatusCallback done) override;
  Status quarantine(const RunId& run, const std::string& why) override;
  Status forgive(const RunId& run, std::uint64_t epoch) override;
  Status lift_quarantine(const RunSummary& summary) override;

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override;
  Result<std::string> blob(const RunId& run, const Digest& digest) override;
  Result<std::optional<StoredSnapshot>> snapshot(const RunId& run) override;
  Result<std::optional<std::int64_t>> expired_at(const RunId& run, const Digest& digest) override;

  Result<std::vector<RunSummary>> list(const ListQuery& query) override;
  Result<std::uint64_t> version() override;
  Result<bool> is_driven(const RunId& run) override;

  void post(const RunId& run, std::int64_t at_ms, std::string body, StatusCallback done) override;
  Result<std::vector<InboxRow>> pending(const RunId& run) override;
  void drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
            StatusCallback done) override;
  Result<std::vector<RunId>> addressed() override;

  void remove(const RunId& run, StatusCallback done) override;
  void compact(std::function<void(Result<std::uint64_t>)> done) override;
  Result<StoreSize> size() override;
  Result<std::vector<RunSize>> run_sizes() override;
  Status check() override;
  void copy_to(const std::string& target, StatusCallback done) override;
  Result<std::vector<KeptBlob>> kept_blobs(const RunId& run) override;
  void expire(Expiry expiry, StatusCallback done) override;

  // Bytes of the log that were cut off at opening: of a commit that was never acknowledged.
  std::uint64_t torn_bytes() const { return torn_bytes_; }
  // Why nothing is written: the store is behind its mark. Reads work.
  const std::optional<Error>& refusal() const { return refusal_; }
  // Writes the log back into the database and empties it.
  Status checkpoint();

 private:
  static Result<std::unique_ptr<SqliteJournal>> open_files(const std::string& directory, Loop& loop,
                                                           const SqliteOptions& options);
  SqliteJournal(Loop& loop, std::string database, std::shared_ptr<sqlite::RunLocks> locks);

  void refuse_writes(const sqlite::Shortfall& shortfall);

  Loop& loop_;
  std::string database_;
  std::optional<Error> refusal_;
  bool is_backup_ = false;  // sound in itself
  std::uint64_t torn_bytes_ = 0;
  std::shared_ptr<sqlite::RunLocks> locks_;  // before the connections: closed after them
  std::unique_ptr<sqlite::Reader> reader_;
  std::unique_ptr<sqlite::Committer> committer_;
  std::unique_ptr<sqlite::Sweeper> sweeper_;
  std::vector<std::unique_ptr<sqlite::Copying>> copies_;
  std::vector<std::unique_ptr<sqlite::Expiring>> expiries_;
};

}  // namespace pawl
