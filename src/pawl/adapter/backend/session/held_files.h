// Files that have no name any more and live on because somebody holds them: by a descriptor, by a
// mapping, or as the program that runs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace pawl::backend {

inline constexpr std::size_t kHeldLooksMax = 65'536;  // of one question

struct HeldFiles {
  std::uint64_t bytes = 0;  // each file once
  // False: there may be more. A process does not let its descriptors be seen, some are on their way
  // through a socket, or there are more than are looked at.
  bool complete = true;
};

// Of the file system with this number. A process that is gone holds nothing.
HeldFiles find_held_files(const std::vector<pid_t>& processes, dev_t device);

// The file system that files in memory belong to: memfd_create() and shared mappings of no file.
dev_t device_of_memory();

}  // namespace pawl::backend
