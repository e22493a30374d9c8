#include "pawl/adapter/backend/sandbox/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace pawl::sandbox {
namespace {

constexpr std::size_t kSweptMax = 1024;
constexpr int kRemovalsMax = 200;  // of a group whose last process is still being buried

bool write_file(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file &&
         ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A group beneath the host's own is what a host may make if any. The path in one line of
// /proc/self/cgroup, "id:controllers:path"; empty: not there.
std::string own_group(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names.find("," + controller + ",") != std::string::npos) return line.substr(second + 1);
  }
  return {};
}

// "pawl-<pid namespace>-": only there does a pid say whether its owner lives.
std::string prefix_of_names() {
  struct stat space{};
  if (::stat("/proc/self/ns/pid", &space) != 0) return "pawl-0-";
  return "pawl-" + std::to_string(space.st_ino) + "-";
}

std::string parent_of(const std::string& mount, const std::string& controller) {
  const std::string group = own_group(controller);
  if (group.empty()) return {};
  return mount + (group == "/" ? "" : group);
}

bool hands_down(const std::string& group) {
  std::ifstream file(group + "/cgroup.subtree_control");
  for (std::string controller; file >> controller;) {
    if (controller == "pids" || controller == "memory") return true;
  }
  return false;
}

}  // namespace

// The scope of a login session has processes, and so can hand down nothing; the slice above does.
std::string unified_parent(const std::string& mount, const std::string& group) {
  if (group.empty()) return {};
  std::string at = group == "/" ? "" : group;
  for (;; at.erase(at.rfind('/'))) {
    if (hands_down(mount + at) && ::access((mount + at + "/cgroup.procs").c_str(), W_OK) == 0) {
      return mount + at;
    }
    if (at.empty()) return mount + (group == "/" ? "" : group);
  }
}

std::string unique_group_name() {
  static std::atomic<std::uint32_t> serial{0};
  return prefix_of_names() + std::to_string(::getpid()) + "-" + std::to_string(serial.fetch_add(1));
}

bool is_left_behind(std::string_view group) {
  const std::string prefix = prefix_of_names();
  if (!group.starts_with(prefix)) return false;
  const int pid = std::atoi(std::string(group.substr(prefix.size())).c_str());
  return pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
}

void sweep_groups(const std::string& parent) {
  std::error_code none;
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(parent, none)) {
    if (left.size() >= kSweptMax) break;
    if (is_left_behind(entry.path().filename().string())) left.push_back(entry.path());
  }
  for (const std::string& directory : left) {
    // podman makes one for itself in it.
    for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
      if (entry.is_directory(none)) ::rmdir(entry.path().c_str());
    }
    ::rmdir(directory.c_str());
  }
}

Cgroup Cgroup::make(const BackendLimits& limits) {
  Cgroup made;
  const std::string name = unique_group_name();
  const auto enter = [&](const std::string& parent) -> std::string {
    const std::string directory = parent + "/" + name;
    if (!parent.empty()) sweep_groups(parent);
    if (parent.empty() || ::mkdir(directory.c_str(), 0755) != 0) return {};
    made.directories_.push_back(directory);
    return directory;
  };
  const auto open_door = [&](const std::string& directory) {
    Descriptor door(::open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (door) made.doors_.push_back(std::move(door));
  };
  const std::string memory = std::to_string(limits.memory_bytes);
  const std::string processes = std::to_string(limits.processes);
  if (const std::string group = enter(parent_of("/sys/fs/cgroup/memory", "memory"));
      !group.empty() && write_file(group + "/memory.limit_in_bytes", memory)) {
    write_file(group + "/memory.memsw.limit_in_bytes", memory);
    open_door(group);
    made.memory_events_ = group + "/memory.oom_control";
  }
  if (const std::string group = enter(parent_of("/sys/fs/cgroup/pids", "pids"));
      !group.empty() && write_file(group + "/pids.max", processes)) {
    open_door(group);
    made.bounds_processes_ = true;
  }
  if (!made.directories_.empty()) return made;
  if (const std::string group = enter(unified_parent("/sys/fs/cgroup", own_group("")));
      !group.empty()) {
    if (write_file(group + "/memory.max", memory)) {
      write_file(group + "/memory.swap.max", "0");
      made.memory_events_ = group + "/memory.events";
    }
    // A group whose parent hands down no controller has no such files, and bounds nothing.
    made.bounds_processes_ = write_file(group + "/pids.max", processes);
    open_door(group);
  }
  return made;
}

Cgroup::~Cgroup() {
  doors_.clear();
  for (const std::string& directory : directories_) {
    for (int attempt = 0; attempt < kRemovalsMax && ::rmdir(directory.c_str()) != 0; ++attempt) {
      if (errno != EBUSY) break;
      ::poll(nullptr, 0, 5);
    }
  }
}

std::uint64_t Cgroup::memory_kills() const {
  if (memory_events_.empty()) return 0;
  std::ifstream file(memory_events_);
  std::string word;
  std::uint64_t value = 0;
  while (file >> word >> value) {
    if (word == "oom_kill") return value;
  }
  return 0;
}

}  // namespace pawl::sandbox
