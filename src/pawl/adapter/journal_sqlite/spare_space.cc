#include "pawl/adapter/journal_sqlite/spare_space.h"

#include <algorithm>

#include "pawl/base/disk_space.h"

namespace pawl::sqlite {

std::uint64_t spared_bytes(std::uint64_t disk_bytes) {
  const std::uint64_t least = std::min(disk_bytes / 8, kSparedBytesMin);
  return std::clamp(disk_bytes / 40, least, kSparedBytesMax);
}

bool has_space_beyond_spared(const std::string& directory, std::uint64_t bytes) {
  const auto disk = disk_space_of(directory);
  return !disk || disk->free_bytes >= spared_bytes(disk->whole_bytes) + bytes;
}

}  // namespace pawl::sqlite
