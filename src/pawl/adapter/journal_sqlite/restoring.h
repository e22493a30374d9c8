// Puts a backup in the place of a data directory. A database that is copied by hand over another
// one finds the log, the mark and the locks of the first beside it, and is damaged by them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl::sqlite {

struct Restored {
  std::string aside;          // where the directory is that was there; empty: there was none
  std::vector<RunId> paused;  // runs that are not over: see acceptance.h
};

// `backup` is a directory with a store, made by copy_store() or copied while nobody used it; it is
// not changed. The copy is made, checked and synced beside `directory`, and the two change places
// in one step: after a crash `directory` is the old one or the new one. not_found: `backup` has no
// store. corrupt: it is damaged. unavailable: a process has `directory` open.
Result<Restored> restore_store(const std::string& backup, const std::string& directory,
                               std::int64_t now_ms);

}  // namespace pawl::sqlite
