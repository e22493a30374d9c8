// Looks at a store without opening it as one: nothing is made, recovered, locked or waited for. Of
// SQLite's files only its index of the log (-shm) may be touched, where it exists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/result.h"
#include "pawl/store.h"

namespace pawl::sqlite {

struct ExaminedRun {
  RunSummary summary;
  bool driven = false;
  std::uint64_t bytes = 0;
};

struct Examination {
  enum class Database : std::uint8_t { absent, refused, readable } database = Database::absent;
  std::string refusal;               // why Pawl would not open it
  std::uint32_t schema_version = 0;  // of the file
  StoreSize size;
  std::uint64_t blob_bytes = 0;
  std::string shortfall;          // what the store lacks by its mark; empty: nothing
  bool is_backup = false;         // it lacks nothing, and is older than what was driven
  std::uint64_t torn_bytes = 0;   // of the log; cut off when the store is opened
  std::vector<ExaminedRun> runs;  // newest first
  enum class Lock : std::uint8_t { absent, usable, unusable } lock = Lock::absent;
  std::string lock_fault;
  bool open_elsewhere = false;  // by some live process
};

// Of a directory that exists. unavailable, corrupt: what could not be read.
Result<Examination> examine_store(const std::string& directory);

std::string library_version();  // SQLite's

}  // namespace pawl::sqlite
