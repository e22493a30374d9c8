// The bounds of the SQLite store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "pawl/adapter/journal_sqlite/file_system.h"

namespace pawl {

// The defaults are for use; tests make things small.
struct SqliteOptions {
  std::size_t queued_jobs_max = 20'000;  // appends and inbox rows not yet written
  std::size_t queued_bytes_max = 256U << 20U;
  std::size_t group_jobs_max = 512;  // of one transaction
  std::size_t group_bytes_max = 8U << 20U;
  std::int64_t busy_wait_ms_max = 30'000;    // for another process that writes
  std::int64_t round_wait_ms_max = 20;       // of an open transaction, for the loop to come around
  std::int64_t full_retry_ms = 250;          // between tries on a full disk
  std::int64_t acquire_wait_ms_max = 5'000;  // of the loop thread, in acquire and quarantine
  int log_pages_max = 2'000;                 // of the write-ahead log before it is written back
  std::uint32_t database_pages_max = 0;      // 0: SQLite's own maximum. Over it the disk is "full"
  // Called on the loop when the disk is found full, and again only after something was written.
  std::function<void()> on_full = {};
  // Whether a large append of so many bytes may be written now. Called on the thread that writes.
  // Empty: while the disk has them beyond what is spared (spare_space.h).
  std::function<bool(std::uint64_t bytes)> has_space_for = {};
  // Which file system a path is on.
  std::function<sqlite::FileSystem(const std::string&)> file_system_of = sqlite::file_system_of;
  // Called on the loop when another process has kept this one from writing for a while; says which.
  std::function<void(const std::string& holder)> on_busy = {};
};

}  // namespace pawl
