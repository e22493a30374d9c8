#include "pawl/adapter/backend/sandbox/user_tasks.h"

#include <dirent.h>
#include <sys/stat.h>

#include <memory>
#include <string>

namespace pawl::sandbox {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

bool starts_with_digit(const char* name) {
  return name[0] >= '1' && name[0] <= '9';
}

}  // namespace

std::uint64_t count_user_tasks(uid_t user) {
  const std::unique_ptr<DIR, CloseDirectory> processes(::opendir("/proc"));
  std::uint64_t count = 0;
  while (const dirent* const entry = processes ? ::readdir(processes.get()) : nullptr) {
    if (!starts_with_digit(entry->d_name)) continue;
    struct stat status = {};
    // A link for each thread, and two as every directory has.
    const std::string tasks = "/proc/" + std::string(entry->d_name) + "/task";
    if (::stat(tasks.c_str(), &status) == 0 && status.st_uid == user && status.st_nlink > 2) {
      count += status.st_nlink - 2;
    }
  }
  return count;
}

}  // namespace pawl::sandbox
