// How much room a disk has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pawl {

struct DiskSpace {
  std::uint64_t whole_bytes = 0;
  std::uint64_t free_bytes = 0;  // for this user
};

// Of the disk that has `path`. Nothing: it cannot be asked.
std::optional<DiskSpace> disk_space_of(const std::string& path);

// Too little for some small files. False also where the disk cannot be asked.
bool is_disk_full(const std::string& path);

}  // namespace pawl
