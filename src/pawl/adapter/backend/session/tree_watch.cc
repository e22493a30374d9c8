#include "pawl/adapter/backend/session/tree_watch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/command/proc_table.h"
#include "pawl/adapter/backend/session/held_files.h"
#include "pawl/adapter/backend/session/process_memory.h"
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

std::vector<pid_t> family_of(const TreeRoot& root) {
  const auto processes = tool_command::read_processes();
  const pid_t host = ::getpid();
  std::set<pid_t> members{root.process};
  const auto belongs = [&](const tool_command::ProcessStat& process) {
    if (process.session == root.process || members.contains(process.parent)) return true;
    return root.mark != 0 && process.parent == host &&
           tool_command::read_lock_limit(process.pid) == root.mark;
  };
  // Parents are mostly older, with smaller numbers; another round finds those that are not.
  for (std::size_t before = 0; before != members.size();) {
    before = members.size();
    for (const auto& process : processes) {
      if (!members.contains(process.pid) && belongs(process)) members.insert(process.pid);
    }
  }
  // Those that have ended and that nobody has asked about count, too: they hold a number.
  std::vector<pid_t> family;
  for (const auto& process : processes) {
    if (members.contains(process.pid)) family.push_back(process.pid);
  }
  return family;
}

TreeWatch::TreeWatch(TreeRoot root, const BackendLimits& limits, Memory memory)
    : root_(root), limits_(limits), memory_(memory), shared_before_(shared_memory_bytes()) {}

void TreeWatch::forget_time() {
  cpu_before_ms_ = cpu_ms_of(stat_of(root_.process)) + lost_.cpu_ms;
}

// What a process has used becomes its parent's when that waits for it, so the sum of the living is
// the sum of all; unless nobody waits. Then it becomes less, and what is missing is lost.
void TreeWatch::measure() {
  TreeUse use;
  for (const pid_t pid : family_) {
    use.cpu_ms += cpu_ms_of(stat_of(pid));
    use.written_bytes += written_by(pid);
  }
  lost_.cpu_ms += std::max<std::int64_t>(living_.cpu_ms - use.cpu_ms, 0);
  if (use.written_bytes < living_.written_bytes) {
    lost_.written_bytes += living_.written_bytes - use.written_bytes;
  }
  living_ = use;
}

// After a fork two processes have the same pages, which are there once: where the plain sum is too
// much, the exact one decides.
bool TreeWatch::has_too_much_memory() {
  const auto sum_of = [this](std::uint64_t (*bytes_of)(pid_t)) {
    std::uint64_t sum = 0;
    for (const pid_t pid : family_) sum += bytes_of(pid);
    return sum;
  };
  if (sum_of(&resident_bytes) > limits_.memory_bytes &&
      sum_of(&share_bytes) > limits_.memory_bytes) {
    return true;
  }
  return holds_too_much_memory();
}

// Files in memory that are open and not mapped are in nobody's account. The machine knows how much
// there is of them; where that has grown by more than the limit it is looked for whose they are.
bool TreeWatch::holds_too_much_memory() {
  const std::uint64_t shared = shared_memory_bytes();
  if (shared <= shared_before_ + limits_.memory_bytes) return false;
  const HeldFiles held = find_held_files(family_, device_of_memory());
  if (!held.complete || held.bytes > limits_.memory_bytes) return true;
  shared_before_ = shared - held.bytes;
  return false;
}

// Orphans that the host has adopted and that have ended since: nobody else waits for them.
void TreeWatch::bury_adopted() {
  if (root_.mark == 0) return;
  std::erase_if(family_, [this](pid_t pid) {
    siginfo_t info{};
    return pid != root_.process &&
           ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) == 0 &&
           info.si_pid == pid;
  });
}

std::optional<BackendOutcome::Kind> TreeWatch::look() {
  family_ = family_of(root_);
  measure();
  bury_adopted();
  if (family_.size() >= limits_.processes) return BackendOutcome::Kind::processes;
  if (memory_ == Memory::counted && has_too_much_memory()) return BackendOutcome::Kind::memory;
  if (living_.cpu_ms + lost_.cpu_ms - cpu_before_ms_ > limits_.cpu_ms)
    return BackendOutcome::Kind::cpu;
  if (living_.written_bytes + lost_.written_bytes > limits_.disk_bytes) {
    return BackendOutcome::Kind::disk;
  }
  return std::nullopt;
}

}  // namespace pawl::backend
