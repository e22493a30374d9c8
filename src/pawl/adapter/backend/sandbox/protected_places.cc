#include "pawl/adapter/backend/sandbox/protected_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "pawl/base/describe_errno.h"
#include "pawl/base/path_text.h"

namespace pawl::sandbox {
namespace {

using Hold = ProtectedPlace::Hold;

constexpr int kHeldLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;

Error is_link(const std::string& path) {
  return {ErrorCode::invalid_argument,
          "protected name " + path +
              ": it is a symbolic link, which cannot be held: a command could put a file in its "
              "place (put a file or directory there, or name write roots that do not hold it)"};
}

struct Sighting {
  ProtectedPlace::Identity identity;
  mode_t mode = 0;
};

// An empty path: the descriptor itself. No link is followed.
bool look_at(int at, const std::string& path, Sighting& seen) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  struct statx found{};
  const int flags = AT_SYMLINK_NOFOLLOW | (path.empty() ? AT_EMPTY_PATH : 0);
  const unsigned wanted = STATX_TYPE | STATX_MODE | STATX_INO | STATX_BTIME;
  if (::statx(at, path.c_str(), flags, wanted, &found) != 0) return false;
  const bool is_born = (found.stx_mask & STATX_BTIME) != 0;
  seen.identity = {makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino,
                   is_born ? found.stx_btime.tv_sec * kNsPerSecond + found.stx_btime.tv_nsec : 0};
  seen.mode = found.stx_mode;
  return true;
}

}  // namespace

bool ProtectedPlace::is_unchanged() const {
  Sighting now;
  return look_at(AT_FDCWD, path, now) && now.identity == identity;
}

Status ProtectedPlaces::find(const SandboxPlan& plan) {
  places_.clear();
  index_.clear();
  const std::vector<std::string> directories = places_of(plan);
  for (const std::string& outer : plan.write_roots) {
    for (const std::string& path : directories) PAWL_CHECK(hold_way(outer, path));
    for (const std::string& path : plan.read_roots) PAWL_CHECK(hold_way(outer, path));
  }
  for (const std::string& directory : directories) PAWL_CHECK(hold_names(plan, directory));
  for (const std::string& root : plan.read_roots) {
    if (access_at(plan, root) != RootAccess::read) continue;
    for (const std::string& name : plan.hidden_names) {
      PAWL_CHECK(hold_path(root, name, Hold::hidden));
    }
  }
  PAWL_CHECK(hold_paths(plan, plan.protected_places, Hold::read_only));
  PAWL_CHECK(hold_paths(plan, plan.found_places, Hold::read_only));
  PAWL_CHECK(hold_paths(plan, plan.hidden_places, Hold::hidden));
  index_.clear();
  std::ranges::sort(places_, {}, &ProtectedPlace::path);
  return ok();
}

// What lies between a write root and another place beneath it: who could rename a directory on the
// way could put another in its place, with protected names that nobody holds.
Status ProtectedPlaces::hold_way(const std::string& outer, const std::string& path) {
  if (!is_beneath(path, outer)) return ok();
  for (std::size_t at = outer.size(); at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    Sighting seen;
    if (!look_at(AT_FDCWD, part, seen)) {
      return Error{ErrorCode::unavailable, part + ": " + describe_errno(errno) + " (create it)"};
    }
    if (S_ISLNK(seen.mode)) {
      return Error{ErrorCode::invalid_argument,
                   part + " is a symbolic link, on the way from the write root " + outer + " to " +
                       path + " (name the place that it leads to)"};
    }
    PAWL_CHECK(note(part, Hold::in_place, seen.identity, S_ISDIR(seen.mode)));
  }
  return ok();
}

Status ProtectedPlaces::hold_names(const SandboxPlan& plan, const std::string& directory) {
  if (access_at(plan, directory) != RootAccess::write) return ok();
  for (const std::string& name : plan.protected_names) {
    PAWL_CHECK(hold_path(directory, name, Hold::read_only));
  }
  for (const std::string& name : plan.hidden_names) {
    PAWL_CHECK(hold_path(directory, name, Hold::hidden));
  }
  return ok();
}

Status ProtectedPlaces::hold_paths(const SandboxPlan& plan, const std::vector<std::string>& paths,
                                   Hold hold) {
  for (const std::string& path : paths) {
    if (access_at(plan, path) != RootAccess::write) continue;
    const auto root = std::ranges::find_if(
        plan.write_roots, [&](const std::string& outer) { return is_beneath(path, outer); });
    if (root == plan.write_roots.end()) continue;
    PAWL_CHECK(hold_path(*root, path.substr(root->size() + 1), hold));
  }
  return ok();
}

Status ProtectedPlaces::note(const std::string& path, Hold hold,
                             const ProtectedPlace::Identity& identity, bool is_directory) {
  if (const auto known = index_.find(path); known != index_.end()) {
    Hold& held = places_[known->second].hold;
    held = std::max(held, hold);
    return ok();
  }
  if (places_.size() >= kPlacesMax) {
    return Error{ErrorCode::limit_exceeded, "more than " + std::to_string(kPlacesMax) +
                                                " protected names (use a smaller write root)"};
  }
  index_.emplace(path, places_.size());
  places_.push_back({path, hold, is_directory, identity});
  return ok();
}

// Component by component and never through a link: a tool of an earlier call may have put it there.
// A name that does not exist needs nothing. What is above the name is held in place: a mount goes
// with a directory that is renamed, and another thing of that name could be made where it was.
Status ProtectedPlaces::hold_path(const std::string& directory, const std::string& name,
                                  Hold hold) {
  Descriptor at(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<std::pair<std::string, Sighting>> way;
  std::string path = directory;
  std::string_view rest = name;
  while (at && !rest.empty()) {
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    path += "/" + part;
    Descriptor next(::openat(at.number(), part.c_str(), kHeldLook));
    Sighting seen;
    if (!next && (errno == ENOENT || errno == ENOTDIR)) return ok();
    if (!next || !look_at(next.number(), "", seen)) {
      return Error{ErrorCode::unavailable, "protected name " + path + ": " + describe_errno(errno)};
    }
    if (S_ISLNK(seen.mode)) return is_link(path);
    way.emplace_back(path, seen);
    // A file where a directory is expected holds all that could be beneath it.
    if (!rest.empty() && !S_ISDIR(seen.mode)) break;
    at = std::move(next);
  }
  for (std::size_t i = 0; i < way.size(); ++i) {
    const bool last = i + 1 == way.size();
    const auto& [part, seen] = way[i];
    PAWL_CHECK(note(part, last ? hold : Hold::in_place, seen.identity, S_ISDIR(seen.mode)));
  }
  return ok();
}

}  // namespace pawl::sandbox
