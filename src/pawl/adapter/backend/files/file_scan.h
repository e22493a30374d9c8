// Which files beneath the write roots a command made or changed: a scan before it, another after.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/adapter/backend/files/change_watch.h"
#include "pawl/adapter/backend/files/file_content.h"
#include "pawl/adapter/backend/files/roots.h"
#include "pawl/backend.h"

namespace pawl::backend {

inline constexpr std::size_t kScannedMax = 20'000;
inline constexpr std::size_t kNamedMax = 512;
inline constexpr std::size_t kChangedFilesMax = 200;
inline constexpr std::uint64_t kHashedBytesMax = 1ULL << 30U;  // of one comparison

// It is made before and after every command: a few strings and no more than that for each file.
struct FileScan {
  struct Entry {
    std::size_t root = 0;  // of `roots`
    std::string relative;
    FileStamp stamp;
  };
  std::vector<Place> roots;
  std::vector<Entry> files;             // in order of root and name
  bool complete = true;                 // false: there were more than a scan takes
  std::vector<std::string> named = {};  // absolute: protected names that hold at any depth
};

struct FileChangesSeen {
  std::vector<FileRef> files;
  std::string note;  // empty unless something was left out
};

// Regular files; .git and node_modules are passed by. Each directory is added to `watch` before it
// is read.
FileScan scan_files(const Roots& roots, ChangeWatch& watch);
// Both of the same Roots.
FileChangesSeen changes_between(const FileScan& before, const FileScan& after);

}  // namespace pawl::backend
