// Finds the process that holds a lock, so that a message can name it. Nothing is decided by it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::sqlite {

// SQLite's write lock: a byte of the -shm file, locked the POSIX way.
inline constexpr std::int64_t kWriteLockOffset = 120;

struct LockHolder {
  pid_t pid = 0;
  std::string name;  // of its program, as the kernel keeps it
  enum class State : std::uint8_t { runs, stopped } state = State::runs;
};

// The process that has locked this byte of the file for writing, by what /proc/locks says. Nothing:
// there is none, or this system does not tell.
std::optional<LockHolder> find_lock_holder(const std::string& path, std::int64_t offset);

// The same for a lock of an open file description, which /proc/locks gives no pid for: the process
// that has the file open, by what /proc/<pid>/fdinfo says. Sees processes of the same user only.
std::optional<LockHolder> find_open_file_holder(const std::string& path, std::int64_t offset);

// The pid in the line of /proc/locks that is about this byte of this inode.
std::optional<pid_t> holder_in_locks(std::string_view locks, std::uint64_t inode,
                                     std::int64_t offset);

// "process 42 (pawl) holds the write lock and is stopped; continue it with: kill -CONT 42"
std::string describe(const LockHolder& holder, std::string_view does = "holds the write lock");

}  // namespace pawl::sqlite
