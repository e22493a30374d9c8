// What /proc says about processes. Nothing here throws; a process that is gone, or that may not be
// looked at, is simply absent.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::tool_command {

inline constexpr std::size_t kProcessesMax = std::size_t{1} << 22U;  // the kernel's own pid limit
inline constexpr std::size_t kEnvironmentBytesMax = std::size_t{4} << 20U;

struct ProcessStat {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::uint64_t start_ticks = 0;  // with the pid it names a process for good
  enum class Life : std::uint8_t { running, ended } life = Life::running;  // ended: a zombie
};

// The fields of one /proc/<pid>/stat. A command name may hold spaces and parentheses.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

std::optional<ProcessStat> read_process_stat(pid_t pid);
// Every process that existed for as long as the call took.
std::vector<ProcessStat> read_processes();

// The number that was given to a process last, whether it still runs or not.
std::optional<pid_t> read_newest_pid();

// The hard RLIMIT_LOCKS of a process; unlike its environment it can be read of a zombie, too.
std::optional<std::uint64_t> read_lock_limit(pid_t pid);
// NAME=value strings, each ended by a NUL; empty for a zombie or someone else's process.
std::string read_environment(pid_t pid);
// The value of `name` in what read_environment() returned.
std::optional<std::string_view> find_variable(std::string_view environment, std::string_view name);
// Names the pid namespace of a process; empty when that may not be looked at.
std::string read_pid_namespace(pid_t pid);

}  // namespace pawl::tool_command
