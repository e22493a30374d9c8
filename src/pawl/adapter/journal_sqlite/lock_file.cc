#include "pawl/adapter/journal_sqlite/lock_file.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "pawl/adapter/journal_sqlite/lock_holder.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"
#include "pawl/ids.h"

namespace pawl::sqlite {
namespace {

constexpr int kOpeningPollMs = 5;

short lock_type(LockKind kind) {
  switch (kind) {
    case LockKind::shared:
      return F_RDLCK;
    case LockKind::exclusive:
      return F_WRLCK;
    case LockKind::none:
      break;
  }
  return F_UNLCK;
}

}  // namespace

Result<bool> try_lock(const Descriptor& file, std::int64_t offset, LockKind kind) {
  struct flock lock{};
  lock.l_type = lock_type(kind);
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  while (::fcntl(file.number(), F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) return false;
    if (errno != EINTR) {
      return Error{ErrorCode::unavailable, "pawl.lock: " + describe_errno(errno)};
    }
  }
  return true;
}

Result<bool> is_locked(const Descriptor& file, std::int64_t offset) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  if (::fcntl(file.number(), F_OFD_GETLK, &lock) != 0) {
    return Error{ErrorCode::unavailable, "pawl.lock: " + describe_errno(errno)};
  }
  return lock.l_type != F_UNLCK;
}

Status lock_opening(const Descriptor& file, const std::string& path) {
  constexpr std::string_view kDoes = "is opening this store";
  for (int waited_ms = 0; waited_ms <= kOpeningWaitMsMax; waited_ms += kOpeningPollMs) {
    PAWL_TRY(const bool locked, try_lock(file, kOpeningOffset, LockKind::exclusive));
    if (locked) return ok();
    if (waited_ms >= kOpeningStoppedMs && waited_ms % kOpeningStoppedMs == 0) {
      const auto holder = find_open_file_holder(path, kOpeningOffset);
      const bool stopped = holder && holder->state == LockHolder::State::stopped;
      if (stopped) return Error{ErrorCode::unavailable, path + ": " + describe(*holder, kDoes)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kOpeningPollMs));
  }
  const auto holder = find_open_file_holder(path, kOpeningOffset);
  return Error{ErrorCode::unavailable,
               path + ": " +
                   (holder ? describe(*holder, "has been opening this store for too long")
                           : "another process has been opening this store for too long")};
}

std::int64_t lock_offset(const RunId& run) {
  const Digest digest = sha256(run.text);
  std::uint64_t bits = 0;
  for (std::size_t byte = 0; byte < sizeof bits; ++byte) bits = bits << 8U | digest.bytes[byte];
  const auto offset = static_cast<std::int64_t>(bits >> 1U);
  return offset < kRunOffsetMin ? offset + kRunOffsetMin : offset;
}

Result<std::shared_ptr<void>> RunLocks::take(const RunId& run) {
  const std::int64_t offset = lock_offset(run);
  const std::lock_guard lock(mutex_);
  const Error taken{ErrorCode::conflict, "run " + run.text + " is driven by someone else"};
  if (held_.contains(offset)) return taken;
  PAWL_TRY(const bool locked, try_lock(file_, offset, LockKind::exclusive));
  if (!locked) return taken;
  held_.insert(offset);
  return std::shared_ptr<void>(
      nullptr, [self = shared_from_this(), offset](void*) { self->release(offset); });
}

Result<bool> RunLocks::is_taken(const RunId& run) {
  const std::int64_t offset = lock_offset(run);
  const std::lock_guard lock(mutex_);
  if (held_.contains(offset)) return true;
  return is_locked(file_, offset);
}

void RunLocks::release(std::int64_t offset) {
  const std::lock_guard lock(mutex_);
  held_.erase(offset);
  // Unlocking a byte that is held cannot fail in a way that could be acted on.
  static_cast<void>(try_lock(file_, offset, LockKind::none));
}

}  // namespace pawl::sqlite
