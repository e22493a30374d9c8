// The directory a store lives in: who may use it, which files it holds, and what is checked before
// SQLite sees any of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pawl/adapter/journal_sqlite/lock_file.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::sqlite {

inline constexpr const char* kDatabaseName = "pawl.db";
inline constexpr const char* kLogName = "pawl.db-wal";
inline constexpr const char* kIndexName = "pawl.db-shm";  // of the log
inline constexpr const char* kLockName = "pawl.lock";

// A store whose files have been checked. While its locks live, others know that it is open.
struct OpenedDirectory {
  std::string path;  // absolute
  std::shared_ptr<RunLocks> locks;
  std::uint64_t torn_bytes = 0;  // of the log, after the last whole commit: never acknowledged
  enum class Others { none, some } others = Others::none;  // some: it was open already
  // Held until the caller has opened the database too: a second description of the lock file.
  Descriptor opening;

  std::string database() const { return path + "/" + kDatabaseName; }
};

// Makes the directory (0700) and its files (0600) if need be. Refuses, changing nothing: a
// directory that others may write to, one that cannot be written, another program's database, a
// newer Pawl's, what is not a file, a rollback journal beside a log, a log without its database,
// and a log with damage before its end.
Result<OpenedDirectory> open_directory(const std::string& path);

// The lock file of a directory, made if need be.
Result<Descriptor> open_lock_file(const std::string& directory);

// Something has this name, whatever it is and wherever it leads.
bool is_present(const std::string& path);

// Everything that can be known without SQLite, which would change files by opening them. The bytes
// torn off the log. Must not run while this process has the database open: closing any descriptor
// of it would drop SQLite's locks. Changes nothing.
Result<std::uint64_t> check_files(const std::string& directory);

// So that the names in it last.
Status sync_directory(const std::string& path);

// To be called when SQLite has opened the database: lets others open it too.
Status admit_others(OpenedDirectory& directory);

}  // namespace pawl::sqlite
