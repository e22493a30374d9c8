// Watches over the space that a call takes beneath its write roots, whoever wrote it and however.
//
// What processes have written is in their accounts (tree_watch.h), unless they were gone before
// anybody looked, or the file system is in memory. So the file system itself is asked how much is
// left. Where that has become less by more than the limit, it may have been somebody else: then,
// and only then, the roots are looked through for what is new.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "pawl/backend.h"

namespace pawl::backend {

inline constexpr std::uint64_t kNewFilesLeast = 1024;
inline constexpr std::uint64_t kBytesPerNewFile = 4096;  // of the limit on bytes
inline constexpr std::size_t kWalkedMax = 500'000;       // more than that was not all here before
inline constexpr int kNewFilesDepthMax = 128;            // each level takes a descriptor

struct FreeSpace {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
};
using AskFreeSpace = std::function<FreeSpace(const std::string& root)>;
FreeSpace ask_file_system(const std::string& root);

class DiskWatch {
 public:
  DiskWatch(std::vector<std::string> roots, const BackendLimits& limits,
            AskFreeSpace ask = &ask_file_system);

  // Whether the call has taken more than it may. `processes` are the call's: what they hold open
  // takes space also when it has no name any more.
  bool is_exceeded(const std::vector<pid_t>& processes);

 private:
  struct Root {
    std::string path;
    FreeSpace before;
  };
  bool has_shrunk(const Root& root) const;

  std::vector<Root> roots_;
  std::uint64_t bytes_max_;
  std::uint64_t files_max_;
  AskFreeSpace ask_;
  std::time_t began_;
};

}  // namespace pawl::backend
