#include "pawl/adapter/backend/session/disk_watch.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "pawl/adapter/backend/session/held_files.h"

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks, whatever the file system's are

struct Found {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  bool complete = true;
};

std::uint64_t bytes_of(const struct stat& status) {
  return static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
}

// A tree that cannot be looked through is one that was made so: shut, deeper than anybody works in,
// or with paths that are too long to be asked about.
void add_new_files(const std::string& root, std::time_t since, Found& found) {
  std::error_code fault;
  fs::recursive_directory_iterator at(root, fs::directory_options::none, fault);
  std::size_t walked = 0;
  while (!fault && at != fs::recursive_directory_iterator()) {
    struct stat status{};
    if (::lstat(at->path().c_str(), &status) != 0) {
      if (errno != ENOENT) found.complete = false;
    } else if (status.st_ctime >= since) {
      ++found.files;
      found.bytes += bytes_of(status);
    }
    if (++walked > kWalkedMax || at.depth() >= kNewFilesDepthMax) found.complete = false;
    if (!found.complete) return;
    at.increment(fault);
  }
  if (fault && fault != std::errc::no_such_file_or_directory) found.complete = false;
}

}  // namespace

FreeSpace ask_file_system(const std::string& root) {
  struct statvfs space{};
  if (::statvfs(root.c_str(), &space) != 0) return {};
  return {std::uint64_t{space.f_bfree} * space.f_frsize, space.f_ffree};
}

DiskWatch::DiskWatch(std::vector<std::string> roots, const BackendLimits& limits, AskFreeSpace ask)
    : bytes_max_(limits.disk_bytes),
      files_max_(std::max(kNewFilesLeast, limits.disk_bytes / kBytesPerNewFile)),
      ask_(std::move(ask)),
      began_(::time(nullptr)) {
  for (std::string& root : roots) {
    FreeSpace before = ask_(root);
    roots_.push_back({std::move(root), before});
  }
}

bool DiskWatch::has_shrunk(const Root& root) const {
  const FreeSpace now = ask_(root.path);
  return now.bytes + bytes_max_ < root.before.bytes || now.files + files_max_ < root.before.files;
}

bool DiskWatch::is_exceeded(const std::vector<pid_t>& processes) {
  const auto shrunk = [this](const Root& root) { return has_shrunk(root); };
  if (std::none_of(roots_.begin(), roots_.end(), shrunk)) return false;
  Found found;
  for (const Root& root : roots_) {
    struct stat status{};
    add_new_files(root.path, began_, found);
    if (::stat(root.path.c_str(), &status) != 0) continue;
    const HeldFiles held = find_held_files(processes, status.st_dev);
    found.bytes += held.bytes;
    found.complete = found.complete && held.complete;
  }
  if (!found.complete || found.bytes > bytes_max_ || found.files > files_max_) return true;
  // It was somebody else, and is not looked at again before as much has gone once more.
  for (Root& root : roots_) root.before = ask_(root.path);
  return false;
}

}  // namespace pawl::backend
