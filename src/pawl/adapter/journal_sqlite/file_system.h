// Which file systems a store may lie on. SQLite's log needs shared memory and locks that every
// process sees, which network file systems do not give.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/result.h"

namespace pawl::sqlite {

struct FileSystem {
  std::uint64_t magic = 0;  // as statfs() gives it
  std::string type;         // as mountinfo names it: "ext4", "fuse.sshfs"; empty: not known
};

// Of a path, or of the nearest directory above it that is there.
FileSystem file_system_of(const std::string& path);

// invalid_argument: a network file system, with the reason and the remedy.
Status check_file_system(const std::string& path, const FileSystem& found);

// The type of the mount that holds `device` ("254:0") in the text of /proc/self/mountinfo; of
// several, the last. Empty: there is none.
std::string mount_type(const std::string& mountinfo, const std::string& device);

}  // namespace pawl::sqlite
