#include "pawl/adapter/backend/sandbox/own_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "pawl/adapter/backend/sandbox/remove_directory.h"
#include "pawl/base/describe_errno.h"

namespace pawl::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kLook = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kAttemptsMax = 16;
constexpr std::size_t kSweptMax = 1024;
constexpr std::size_t kLookedAtMax = 65'536;

std::string temporary_place() {
  std::error_code none;
  const fs::path place = fs::temp_directory_path(none);
  return none ? "/tmp" : place.string();
}

bool is_still_there(const std::string& path, const Descriptor& held) {
  struct stat named{};
  struct stat own{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(held.number(), &own) == 0 &&
         named.st_ino == own.st_ino && named.st_dev == own.st_dev;
}

}  // namespace

Result<OwnDirectory> OwnDirectory::make(std::string_view prefix) {
  // Somebody who sweeps may come between the making and the lock.
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    OwnDirectory made;
    std::string path = temporary_place() + "/" + std::string(prefix) + "XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return Error{ErrorCode::unavailable,
                   path + " could not be made: " + describe_errno(errno) + " (TMPDIR names where)"};
    }
    made.lock_.reset(::open(path.c_str(), kLook));
    if (!made.lock_ || ::flock(made.lock_.number(), LOCK_EX) != 0) continue;
    if (!is_still_there(path, made.lock_)) continue;
    made.path_ = std::move(path);
    return made;
  }
  return Error{ErrorCode::unavailable, "no temporary directory beneath " + temporary_place()};
}

OwnDirectory::~OwnDirectory() {
  if (!lock_) return;
  remove_directory(path_);
}

void sweep_directories(std::string_view prefix) {
  std::error_code none;
  std::vector<std::string> found;
  std::size_t looked_at = 0;
  fs::directory_iterator at(temporary_place(), none);
  for (; !none && at != fs::directory_iterator(); at.increment(none)) {
    if (++looked_at > kLookedAtMax || found.size() >= kSweptMax) break;
    if (at->path().filename().string().starts_with(prefix)) found.push_back(at->path());
  }
  for (const std::string& path : found) {
    const Descriptor held(::open(path.c_str(), kLook));
    if (!held || ::flock(held.number(), LOCK_EX | LOCK_NB) != 0) continue;
    if (is_still_there(path, held)) remove_directory(path);
  }
}

}  // namespace pawl::sandbox
