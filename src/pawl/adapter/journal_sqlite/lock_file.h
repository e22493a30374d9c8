// One lock file for a store. Locks are "open file description" locks of the system's kernel: they
// belong to the open file, not to the process, so that closing some other descriptor does not drop
// them, and they vanish with the process however it ends.
//
//   byte 0   held while a process opens the store, so that openers come one by one
//   byte 1   held by everyone who has the store open: shared; exclusive to check it first
//   others   one byte per driven run, from kRunOffsetMin up
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "pawl/base/descriptor.h"
#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl::sqlite {

inline constexpr std::int64_t kOpeningOffset = 0;
inline constexpr std::int64_t kOpenOffset = 1;
inline constexpr std::int64_t kRunOffsetMin = 16;
inline constexpr int kOpeningWaitMsMax = 30'000;  // for another process to finish opening
inline constexpr int kOpeningStoppedMs = 2'000;

enum class LockKind { shared, exclusive, none };

// True: it is held now. False: someone else has it.
Result<bool> try_lock(const Descriptor& file, std::int64_t offset, LockKind kind);

// True: another open file of this or any other process has it. Takes nothing. Locks of `file`
// itself are not seen.
Result<bool> is_locked(const Descriptor& file, std::int64_t offset);

// Waits for byte 0, at most kOpeningWaitMsMax; for a process that is stopped while it opens the
// store only kOpeningStoppedMs. The error names the process. `path` is the file's.
Status lock_opening(const Descriptor& file, const std::string& path);

// The byte of a run: 63 bits of the SHA-256 of its id.
std::int64_t lock_offset(const RunId& run);

// The runs that this process drives. Locks of one open file do not conflict with each other, so the
// set keeps a second driver in the same process away.
class RunLocks : public std::enable_shared_from_this<RunLocks> {
 public:
  explicit RunLocks(Descriptor file) : file_(std::move(file)) {}

  // conflict: driven by someone else. The lock goes when the last copy of the hold goes.
  Result<std::shared_ptr<void>> take(const RunId& run);

  // Whether take() would find it taken. Takes nothing.
  Result<bool> is_taken(const RunId& run);

  const Descriptor& file() const { return file_; }

 private:
  void release(std::int64_t offset);

  Descriptor file_;
  std::mutex mutex_;  // a hold may be dropped on any thread
  std::set<std::int64_t> held_;
};

}  // namespace pawl::sqlite
