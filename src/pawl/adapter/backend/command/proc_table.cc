#include "pawl/adapter/backend/command/proc_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "pawl/base/descriptor.h"

namespace pawl::tool_command {
namespace {

constexpr std::size_t kStatBytesMax = 4096;
constexpr std::size_t kLimitsBytesMax = 8192;

std::string path_of(pid_t pid, std::string_view file) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(file);
}

std::string read_small_file(const std::string& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> chunk{};
  while (file && text.size() < bytes_max) {
    const ssize_t count = ::read(file.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(count));
    if (static_cast<std::size_t>(count) < chunk.size()) break;  // the kernel has no more
  }
  return text;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Takes the next word of `text`, which are separated by blanks.
std::string_view take_word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const auto pid = parse_number<pid_t>(take_word(text));
  text.remove_prefix(std::min(text.size(), text.rfind(')') + 1));
  std::array<std::string_view, 20> words;  // fields 3 to 22 of proc(5)
  for (auto& word : words) word = take_word(text);
  const auto parent = parse_number<pid_t>(words[1]);
  const auto group = parse_number<pid_t>(words[2]);
  const auto session = parse_number<pid_t>(words[3]);
  const auto threads = parse_number<long>(words[17]);
  const auto start = parse_number<std::uint64_t>(words[19]);
  if (!pid || !parent || !group || !session || !threads || !start) return std::nullopt;
  // A first thread that has ended shows as a zombie while the others run on.
  const bool ended = (words[0] == "Z" || words[0] == "X") && *threads <= 1;
  using Life = ProcessStat::Life;
  return ProcessStat{*pid, *parent, *group, *session, *start, ended ? Life::ended : Life::running};
}

std::optional<ProcessStat> read_process_stat(pid_t pid) {
  return parse_process_stat(read_small_file(path_of(pid, "stat"), kStatBytesMax));
}

std::vector<ProcessStat> read_processes() {
  std::vector<ProcessStat> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), &::closedir);
  if (!directory) return processes;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto pid = parse_number<pid_t>(entry->d_name);
    if (!pid) continue;
    if (const auto stat = read_process_stat(*pid)) processes.push_back(*stat);
    if (processes.size() >= kProcessesMax) break;
  }
  return processes;
}

std::optional<pid_t> read_newest_pid() {
  constexpr std::size_t kLoadBytesMax = 256;
  constexpr int kWordsBefore = 4;  // three averages, and how many run of how many
  const std::string text = read_small_file("/proc/loadavg", kLoadBytesMax);
  std::string_view rest = text;
  for (int word = 0; word < kWordsBefore; ++word) take_word(rest);
  return parse_number<pid_t>(take_word(rest));
}

std::optional<std::uint64_t> read_lock_limit(pid_t pid) {
  constexpr std::string_view kTitle = "Max file locks";
  const std::string text = read_small_file(path_of(pid, "limits"), kLimitsBytesMax);
  const std::size_t at = text.find(kTitle);
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(at + kTitle.size());
  take_word(rest);  // the soft limit
  return parse_number<std::uint64_t>(take_word(rest));
}

std::string read_environment(pid_t pid) {
  return read_small_file(path_of(pid, "environ"), kEnvironmentBytesMax);
}

std::optional<std::string_view> find_variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(environment.size(), entry.size() + 1));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

std::string read_pid_namespace(pid_t pid) {
  std::array<char, 64> name{};
  const ssize_t count = ::readlink(path_of(pid, "ns/pid").c_str(), name.data(), name.size());
  return count <= 0 ? std::string() : std::string(name.data(), static_cast<std::size_t>(count));
}

}  // namespace pawl::tool_command
