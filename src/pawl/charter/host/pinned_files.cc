#include "pawl/charter/host/pinned_files.h"

#include "pawl/base/utf8.h"

namespace pawl {

Result<std::vector<PinnedFile>> pinned_of(const std::vector<HostFile>& files) {
  if (files.size() > kPinnedFilesMax) {
    return Error{ErrorCode::limit_exceeded,
                 "the host reads and runs " + std::to_string(files.size()) +
                     " files for this charter, and a run keeps the digests of " +
                     std::to_string(kPinnedFilesMax) +
                     "; use fewer scripts of rules, included files or commands"};
  }
  std::vector<PinnedFile> pinned;
  for (const HostFile& file : files) pinned.push_back({to_valid_utf8(file.path), file.digest});
  return pinned;
}

std::vector<HostFile> host_files_of(const std::vector<PinnedFile>& pinned) {
  std::vector<HostFile> files;
  for (const PinnedFile& one : pinned) files.push_back({one.path, one.digest});
  return files;
}

}  // namespace pawl
