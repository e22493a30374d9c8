// A regular file, read whole, and what identifies the bytes that were read.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "pawl/adapter/backend/files/roots.h"

namespace pawl::backend {

inline constexpr std::uint64_t kFileBytesMax = 64U << 20U;    // that is written
inline constexpr std::uint64_t kViewedBytesMax = 32U << 20U;  // that is viewed, or edited in place

// Which file it is and when it last changed. Equal before and after: nobody wrote in between.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const struct stat& status);

struct FileContent {
  std::string bytes;
  struct stat status{};
};

// Pipes, sockets, devices and directories are refused, without waiting for anybody.
Result<FileContent> read_regular(const Place& place, Links links,
                                 std::uint64_t bytes_max = kViewedBytesMax);
Result<FileContent> read_open_file(int file, const std::string& path, std::uint64_t bytes_max);

// An Error unless the file may be replaced: regular, and with no second name elsewhere.
Status check_replaceable(const struct stat& status, const std::string& path);

std::string_view kind_of(const struct stat& status);  // "a directory", "a named pipe", …

}  // namespace pawl::backend
