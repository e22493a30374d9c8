#include "pawl/adapter/backend/session/process_memory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;

// The sum of the lines "NAME: 12 kB" that are asked for; nothing: none of them is there.
std::optional<std::uint64_t> read_lines(const std::string& path,
                                        std::initializer_list<std::string_view> names) {
  std::ifstream file(path);
  std::optional<std::uint64_t> sum;
  for (std::string line; std::getline(file, line);) {
    for (const std::string_view name : names) {
      if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':')
        continue;
      sum = sum.value_or(0) + std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) * 1024;
    }
  }
  return sum;
}

// A process whose first thread has ended says nothing of memory; another thread does.
std::optional<std::uint64_t> read_of(pid_t process, const char* file,
                                     std::initializer_list<std::string_view> names) {
  const std::string place = "/proc/" + std::to_string(process) + "/";
  auto sum = read_lines(place + file, names);
  std::error_code fault;
  if (sum || !fs::exists(place + "task", fault)) return sum;
  fs::directory_iterator task(place + "task", fault);
  for (; !fault && !sum && task != fs::directory_iterator(); task.increment(fault)) {
    sum = read_lines(task->path() / file, names);
  }
  return sum;
}

}  // namespace

std::uint64_t resident_bytes(pid_t process) {
  return read_of(process, "status", {"VmRSS", "VmPTE"}).value_or(0);
}

std::uint64_t share_bytes(pid_t process) {
  const auto share = read_of(process, "smaps_rollup", {"Pss"});
  if (!share) return resident_bytes(process);
  return *share + read_of(process, "status", {"VmPTE"}).value_or(0);
}

std::uint64_t shared_memory_bytes() {
  return read_lines("/proc/meminfo", {"Shmem"}).value_or(0);
}

}  // namespace pawl::backend
