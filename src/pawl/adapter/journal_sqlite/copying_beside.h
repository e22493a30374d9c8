// What a copy of a data directory has beside the database: the ledger of budgets, remembered
// approvals, input files, kept outputs, and the git directories of sessions, which may have commits
// that are not published yet. Logs of detached runs and what was taken out of work trees are left
// out.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "pawl/result.h"

namespace pawl::sqlite {

inline constexpr std::size_t kBesideFilesMax = 1'000'000;  // of all of them
inline constexpr int kBesideDepthMax = 128;                // of their directories

// Into `target`, which is there; synced. The ledger is copied as it is at one moment, a little
// later than the database: it may know of more spending, never of less. Links are copied as links.
Status copy_beside(const std::string& source, const std::string& target,
                   const std::atomic<bool>& stop);

}  // namespace pawl::sqlite
