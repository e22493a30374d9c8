#include "pawl/base/disk_space.h"

#include <sys/statvfs.h>

namespace pawl {
namespace {

constexpr std::uint64_t kSmallFilesBytes = std::uint64_t{64} << 10U;

}  // namespace

std::optional<DiskSpace> disk_space_of(const std::string& path) {
  struct statvfs disk{};
  if (::statvfs(path.c_str(), &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  return DiskSpace{std::uint64_t{disk.f_blocks} * disk.f_frsize,
                   std::uint64_t{disk.f_bavail} * disk.f_frsize};
}

bool is_disk_full(const std::string& path) {
  const auto space = disk_space_of(path);
  return space && space->free_bytes < kSmallFilesBytes;
}

}  // namespace pawl
