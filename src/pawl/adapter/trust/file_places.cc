#include "pawl/adapter/trust/file_places.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <deque>
#include <filesystem>

namespace pawl {
namespace {

namespace fs = std::filesystem;

std::int64_t nanoseconds(const statx_timestamp& at) {
  return at.tv_sec * 1'000'000'000 + at.tv_nsec;
}

FilePlace place_at(const std::string& path) {
  FilePlace place{path};
  struct statx info{};
  constexpr unsigned kWanted = STATX_CTIME | STATX_BTIME;
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, kWanted, &info) != 0) return place;
  place.changed_ns = nanoseconds(info.stx_ctime);
  if ((info.stx_mask & STATX_BTIME) != 0) place.born_ns = nanoseconds(info.stx_btime);
  return place;
}

}  // namespace

std::vector<FilePlace> places_of(const std::string& path) {
  std::error_code none;
  std::deque<std::string> left;
  for (const fs::path& part : fs::absolute(path, none)) left.push_back(part.string());
  std::vector<FilePlace> places;
  fs::path at = "/";
  while (!left.empty()) {
    const std::string part = left.front();
    left.pop_front();
    if (part.empty() || part == "." || part == "/") continue;
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    const fs::path next = at / part;
    const bool link = fs::is_symlink(fs::symlink_status(next, none));
    if (!link || places.size() == kLinksFollowedMax) {
      at = next;
      continue;
    }
    places.push_back(place_at(next.string()));
    const fs::path target = fs::read_symlink(next, none);
    if (target.is_absolute()) at = "/";
    std::deque<std::string> more;
    for (const fs::path& one : target) more.push_back(one.string());
    left.insert(left.begin(), more.begin(), more.end());
  }
  places.push_back(place_at(at.string()));
  return places;
}

}  // namespace pawl
