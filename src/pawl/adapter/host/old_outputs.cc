#include "pawl/adapter/host/old_outputs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"
#include "pawl/base/digest_name.h"

namespace pawl {
namespace {

std::int64_t written_at_ms(const struct stat& info) {
  constexpr std::int64_t kMsPerSecond = 1'000;
  constexpr std::int64_t kNsPerMs = 1'000'000;
  return info.st_mtim.tv_sec * kMsPerSecond + info.st_mtim.tv_nsec / kNsPerMs;
}

}  // namespace

std::vector<std::string> damaged_outputs(const std::string& directory) {
  std::vector<std::string> damaged;
  std::error_code none;  // Most runs have no such directory.
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename().string();
    if (!is_digest_name(name)) continue;  // of a call that was killed
    const Descriptor file(
        ::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const Status sound = file ? check_digest_name(file.number(), name)
                              : Status(Error{ErrorCode::unavailable, describe_errno(errno)});
    if (!sound) damaged.push_back(entry.path().string() + ": " + sound.error().message);
  }
  return damaged;
}

FileTally old_outputs(const std::string& directory, std::int64_t before_ms, OldFiles what) {
  FileTally tally;
  std::error_code none;  // Most runs have no such directory.
  if (std::filesystem::symlink_status(directory, none).type() !=
      std::filesystem::file_type::directory) {
    return tally;
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    struct stat info{};
    if (::lstat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (written_at_ms(info) >= before_ms) continue;
    if (what == OldFiles::removed && !std::filesystem::remove(entry.path(), none)) continue;
    ++tally.files;
    tally.bytes += static_cast<std::uint64_t>(info.st_size);
  }
  return tally;
}

}  // namespace pawl
