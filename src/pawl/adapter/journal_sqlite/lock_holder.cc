#include "pawl/adapter/journal_sqlite/lock_holder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <vector>

#include "pawl/base/descriptor.h"

namespace pawl::sqlite {
namespace {

constexpr std::size_t kLocksBytesMax = std::size_t{4} << 20U;  // of /proc/locks
constexpr std::size_t kStatBytesMax = 4'096;                   // of /proc/<pid>/stat

std::string read_start(const std::string& path, std::size_t bytes_max) {
  std::string text;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return text;
  char piece[4'096];
  while (text.size() < bytes_max) {
    const ssize_t got = ::read(file.number(), piece, sizeof piece);
    if (got <= 0) break;
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// "1: POSIX  ADVISORY  WRITE 42 fe:00:1234 120 120"; one that waits has "->" behind the number.
std::optional<pid_t> holder_in_line(std::string_view line, std::uint64_t inode,
                                    std::int64_t offset) {
  const auto words = words_of(line);
  if (words.size() != 8 || words[3] != "WRITE") return std::nullopt;
  const std::string_view file = words[5];
  if (number_of<std::uint64_t>(file.substr(file.rfind(':') + 1)) != inode) return std::nullopt;
  const auto first = number_of<std::int64_t>(words[6]);
  const auto last =
      words[7] == "EOF" ? std::optional(INT64_MAX) : number_of<std::int64_t>(words[7]);
  if (!first || !last || offset < *first || offset > *last) return std::nullopt;
  const auto pid = number_of<pid_t>(words[4]);
  return pid && *pid > 0 ? pid : std::nullopt;
}

}  // namespace

std::optional<pid_t> holder_in_locks(std::string_view locks, std::uint64_t inode,
                                     std::int64_t offset) {
  while (!locks.empty()) {
    const std::size_t end = std::min(locks.find('\n'), locks.size());
    if (const auto pid = holder_in_line(locks.substr(0, end), inode, offset)) return pid;
    locks.remove_prefix(std::min(end + 1, locks.size()));
  }
  return std::nullopt;
}

std::optional<LockHolder> find_lock_holder(const std::string& path, std::int64_t offset) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  const auto pid = holder_in_locks(read_start("/proc/locks", kLocksBytesMax), info.st_ino, offset);
  if (!pid) return std::nullopt;
  LockHolder holder{*pid, "", LockHolder::State::runs};
  const std::string stat = read_start("/proc/" + std::to_string(*pid) + "/stat", kStatBytesMax);
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return holder;
  holder.name = stat.substr(open + 1, close - open - 1);
  const bool stopped = stat.compare(close, 3, ") T") == 0 || stat.compare(close, 3, ") t") == 0;
  if (stopped) holder.state = LockHolder::State::stopped;
  return holder;
}

std::string describe(const LockHolder& holder) {
  const std::string pid = std::to_string(holder.pid);
  const std::string who = "process " + pid + (holder.name.empty() ? "" : " (" + holder.name + ")");
  if (holder.state == LockHolder::State::runs) return who + " holds the write lock";
  return who + " holds the write lock and is stopped; continue it with: kill -CONT " + pid;
}

}  // namespace pawl::sqlite
