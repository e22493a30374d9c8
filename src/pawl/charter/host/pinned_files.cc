#include "pawl/charter/host/pinned_files.h"

#include <algorithm>

#include "pawl/base/utf8.h"

namespace pawl {

std::vector<PinnedFile> pinned_of(const std::vector<HostFile>& files) {
  std::vector<PinnedFile> pinned;
  for (std::size_t i = 0; i < std::min(files.size(), kPinnedFilesMax); ++i) {
    pinned.push_back({to_valid_utf8(files[i].path), files[i].digest});
  }
  return pinned;
}

std::vector<HostFile> host_files_of(const std::vector<PinnedFile>& pinned) {
  std::vector<HostFile> files;
  for (const PinnedFile& one : pinned) files.push_back({one.path, one.digest});
  return files;
}

}  // namespace pawl
