// Watches over a store from beside it: that its files are still the ones that were opened, that its
// mark is raised before anything is acknowledged, and that its log carries its name.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/lock_file.h"
#include "pawl/adapter/journal_sqlite/mark.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/result.h"

namespace pawl::sqlite {

// One file by its name, and whether it is still there.
class WatchedFile {
 public:
  explicit WatchedFile(std::string path) : path_(std::move(path)) {}
  // The first time it is looked for it may be missing: SQLite makes it when it needs it.
  bool is_in_place();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<std::pair<dev_t, ino_t>> seen_;
};

class StoreGuard {
 public:
  // `connection` has read from the database. A mark is made where the store never had one, which
  // the caller alone must have open then.
  static Result<std::unique_ptr<StoreGuard>> open(const std::string& directory,
                                                  std::shared_ptr<RunLocks> locks,
                                                  Connection& connection);

  // How the store falls short of its mark. Nothing may be written until somebody has accepted it.
  const Shortfall& shortfall() const { return shortfall_; }
  // Puts the mark where the store is, whatever it said before, and syncs it.
  Status accept(Connection& connection);

  // At the beginning of a transaction.
  void begin(Connection& connection, bool others_have_written);
  // After the commit was synced and before anybody is told. An error: nobody may be told.
  Status after_commit(Connection& connection);
  // The log has begun and does not carry its name yet.
  bool log_is_unnamed() const { return log_named_ != log_; }
  void log_was_named() { log_named_ = log_; }
  // Others may have begun one.
  Status look_at_log(Connection& connection);
  Status sync_mark() const { return mark_ ? mark_->sync() : ok(); }

 private:
  StoreGuard(const std::string& directory, std::shared_ptr<RunLocks> locks);
  Status check_files(Connection& connection);
  Status raise_mark();
  Status make_mark(Connection& connection);

  std::string directory_;
  std::shared_ptr<RunLocks> locks_;
  std::array<WatchedFile, 2> files_;
  std::optional<MarkFile> mark_;
  std::int64_t store_ = 0;  // its id
  Shortfall shortfall_;
  Newest committed_;
  bool others_have_written_ = false;  // since the mark was last raised
  std::int64_t log_ = 0;              // its name, after the last commit
  std::int64_t log_named_ = 0;
};

}  // namespace pawl::sqlite
