// What is known about the process that keeps this one from writing.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/lock_holder.h"

namespace pawl::sqlite {

// A wait this long is worth a word: who waits should not wonder.
inline constexpr std::chrono::milliseconds kNameHolderAfter{2'000};

class BusyWatch {
 public:
  explicit BusyWatch(sqlite3* database)
      : index_(std::string(sqlite3_db_filename(database, "main")) + "-shm") {}

  // The committer thread's: a wait begins, or is over.
  void restart() {
    const std::lock_guard lock(mutex_);
    looked_ = false;
    holder_.reset();
  }
  // Likewise. The holder, once in a wait, when that has lasted long enough.
  std::optional<LockHolder> look(std::chrono::steady_clock::duration waited) {
    if (looked_ || waited < kNameHolderAfter) return std::nullopt;
    looked_ = true;
    auto found = find_lock_holder(index_, kWriteLockOffset);
    const std::lock_guard lock(mutex_);
    holder_ = found;
    return found;
  }
  // Of any thread: the holder that this wait has found.
  std::optional<LockHolder> holder() const {
    const std::lock_guard lock(mutex_);
    return holder_;
  }

 private:
  const std::string index_;
  bool looked_ = false;
  mutable std::mutex mutex_;
  std::optional<LockHolder> holder_;
};

}  // namespace pawl::sqlite
