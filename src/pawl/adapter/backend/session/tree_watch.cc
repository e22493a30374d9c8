#include "pawl/adapter/backend/session/tree_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/command/proc_table.h"
#include "pawl/base/descriptor.h"

namespace pawl::backend {
namespace {

constexpr std::size_t kFileBytesMax = 2048;

std::string read_small(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(kFileBytesMax, '\0');
  const ssize_t count = file ? ::read(file.number(), text.data(), text.size()) : 0;
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

// The n-th number after the command's name in /proc/<pid>/stat; fields are counted from 3 there.
std::uint64_t stat_field(std::string_view text, int field) {
  std::size_t at = text.rfind(')');
  for (int i = 2; i < field && at != std::string_view::npos; ++i) at = text.find(' ', at + 1);
  std::uint64_t value = 0;
  if (at == std::string_view::npos || at + 1 >= text.size()) return 0;
  std::from_chars(text.data() + at + 1, text.data() + text.size(), value);
  return value;
}

constexpr int kUserTime = 14;
constexpr int kChildSystemTime = 17;
constexpr int kResidentPages = 24;

std::int64_t cpu_ms_of(std::string_view stat) {
  static const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  std::uint64_t sum = 0;
  for (int field = kUserTime; field <= kChildSystemTime; ++field) sum += stat_field(stat, field);
  return static_cast<std::int64_t>(sum * 1000 / ticks);
}

std::string stat_of(pid_t pid) {
  return read_small("/proc/" + std::to_string(pid) + "/stat");
}

std::uint64_t written_by(pid_t pid) {
  constexpr std::string_view kName = "\nwrite_bytes: ";
  const std::string text = read_small("/proc/" + std::to_string(pid) + "/io");
  const std::size_t at = text.find(kName);
  std::uint64_t value = 0;
  if (at == std::string::npos) return 0;
  std::from_chars(text.data() + at + kName.size(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::vector<pid_t> family_of(pid_t root) {
  const auto processes = tool_command::read_processes();
  std::vector<pid_t> family;
  std::map<pid_t, bool> member{{root, true}};
  // Parents are mostly older, with smaller numbers; a second round finds those that are not.
  for (int round = 0; round < 2; ++round) {
    for (const auto& process : processes) {
      if (process.session == root || member.contains(process.parent)) member[process.pid] = true;
    }
  }
  // Those that have ended and that nobody has asked about count, too: they hold a number.
  for (const auto& process : processes) {
    if (member.contains(process.pid)) family.push_back(process.pid);
  }
  return family;
}

TreeWatch::TreeWatch(pid_t root, Past past, const BackendLimits& limits,
                     std::uint64_t written_before)
    : root_(root), limits_(limits), cpu_before_ms_(0), written_(written_before) {
  if (past == Past::counts) return;
  cpu_before_ms_ = cpu_ms_of(stat_of(root));
  written_by_[root] = written_by(root);
}

TreeUse TreeWatch::measure() {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  TreeUse use;
  for (const pid_t pid : family_of(root_)) {
    const std::string stat = stat_of(pid);
    use.cpu_ms += cpu_ms_of(stat);
    use.memory_bytes += stat_field(stat, kResidentPages) * page_bytes;
    ++use.processes;
    std::uint64_t& known = written_by_[pid];
    const std::uint64_t now = written_by(pid);
    if (now > known) {
      written_ += now - known;
      known = now;
    }
  }
  use.written_bytes = written_;
  return use;
}

std::optional<BackendOutcome::Kind> TreeWatch::look() {
  const TreeUse use = measure();
  if (use.processes >= limits_.processes) return BackendOutcome::Kind::processes;
  if (use.memory_bytes > limits_.memory_bytes) return BackendOutcome::Kind::memory;
  if (use.cpu_ms - cpu_before_ms_ > limits_.cpu_ms) return BackendOutcome::Kind::cpu;
  if (use.written_bytes > limits_.disk_bytes) return BackendOutcome::Kind::disk;
  return std::nullopt;
}

}  // namespace pawl::backend
