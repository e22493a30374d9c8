// The places on the way to a file that decide what is read there: each symbolic link, and the file
// itself, with the times that no program can set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pawl {

inline constexpr std::size_t kLinksFollowedMax = 40;  // as the kernel does

struct FilePlace {
  std::string path;             // absolute, without links
  std::int64_t changed_ns = 0;  // ctime; 0: it is not there
  std::int64_t born_ns = 0;     // 0: the file system does not say
};

// In the order in which they are met; the last one is the file. More links than kLinksFollowedMax
// are not followed.
std::vector<FilePlace> places_of(const std::string& path);

}  // namespace pawl
