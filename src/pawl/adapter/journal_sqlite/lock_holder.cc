#include "pawl/adapter/journal_sqlite/lock_holder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <vector>

#include "pawl/base/descriptor.h"

namespace pawl::sqlite {
namespace {

constexpr std::size_t kLocksBytesMax = std::size_t{4} << 20U;  // of /proc/locks
constexpr std::size_t kStatBytesMax = 4'096;                   // of /proc/<pid>/stat, fdinfo
constexpr std::size_t kEntriesMax = 100'000;                   // processes, and descriptors of one

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
// Gives the word with the pid, if the line is about this byte; empty otherwise.
std::string_view pid_in_line(std::string_view line, std::uint64_t inode, std::int64_t offset) {
  const auto words = words_of(line);
  if (words.size() != 8 || words[3] != "WRITE") return {};
  const std::string_view file = words[5];
  if (number_of<std::uint64_t>(file.substr(file.rfind(':') + 1)) != inode) return {};
  const auto first = number_of<std::int64_t>(words[6]);
  const auto last =
      words[7] == "EOF" ? std::optional(INT64_MAX) : number_of<std::int64_t>(words[7]);
  if (!first || !last || offset < *first || offset > *last) return {};
  return words[4];
}

template <class Each>
void for_each_line(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

LockHolder described(pid_t pid) {
  LockHolder holder{pid, "", LockHolder::State::runs};
  const std::string stat = read_start("/proc/" + std::to_string(pid) + "/stat", kStatBytesMax);
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return holder;
  holder.name = stat.substr(open + 1, close - open - 1);
  const bool stopped = stat.compare(close, 3, ") T") == 0 || stat.compare(close, 3, ") t") == 0;
  if (stopped) holder.state = LockHolder::State::stopped;
  return holder;
}

// The names in a directory, at most kEntriesMax of them; none: it cannot be read.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code fault;
  for (std::filesystem::directory_iterator at(path, fault), end; !fault && at != end;
       at.increment(fault)) {
    if (names.size() >= kEntriesMax) break;
    names.push_back(at->path().filename().string());
  }
  return names;
}

// "lock:\t1: OFDLCK ADVISORY  WRITE -1 fe:00:1234 0 0"
bool has_lock(const std::string& information, std::uint64_t inode, std::int64_t offset) {
  constexpr std::string_view kLock = "lock:\t";
  bool found = false;
  for_each_line(information, [&](std::string_view line) {
    if (!line.starts_with(kLock)) return;
    found = found || !pid_in_line(line.substr(kLock.size()), inode, offset).empty();
  });
  return found;
}

bool process_has_lock(const std::string& process, std::uint64_t inode, std::int64_t offset) {
  const std::string descriptors = "/proc/" + process + "/fdinfo";
  for (const std::string& one : names_in(descriptors)) {
    if (has_lock(read_start(descriptors + "/" + one, kStatBytesMax), inode, offset)) return true;
  }
  return false;
}

}  // namespace

std::optional<pid_t> holder_in_locks(std::string_view locks, std::uint64_t inode,
                                     std::int64_t offset) {
  std::optional<pid_t> holder;
  for_each_line(locks, [&](std::string_view line) {
    const auto pid = number_of<pid_t>(pid_in_line(line, inode, offset));
    if (!holder && pid && *pid > 0) holder = pid;
  });
  return holder;
}

std::optional<LockHolder> find_lock_holder(const std::string& path, std::int64_t offset) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  const auto pid = holder_in_locks(read_start("/proc/locks", kLocksBytesMax), info.st_ino, offset);
  return pid ? std::optional(described(*pid)) : std::nullopt;
}

std::optional<LockHolder> find_open_file_holder(const std::string& path, std::int64_t offset) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  for (const std::string& process : names_in("/proc")) {
    const auto pid = number_of<pid_t>(process);
    if (pid && process_has_lock(process, info.st_ino, offset)) return described(*pid);
  }
  return std::nullopt;
}

std::string describe(const LockHolder& holder, std::string_view does) {
  const std::string pid = std::to_string(holder.pid);
  const std::string who = "process " + pid + (holder.name.empty() ? "" : " (" + holder.name + ")") +
                          " " + std::string(does);
  if (holder.state == LockHolder::State::runs) return who;
  return who + " and is stopped; continue it with: kill -CONT " + pid;
}

}  // namespace pawl::sqlite
