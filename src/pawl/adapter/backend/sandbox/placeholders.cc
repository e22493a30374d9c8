#include "pawl/adapter/backend/sandbox/placeholders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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

constexpr mode_t kDirectoryMark = S_ISVTX | 0555;
constexpr mode_t kFileMark = S_ISVTX | 0444;
constexpr off_t kMarkBytesMax = 2;
constexpr int kLook = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

// Where git looks for its configuration and hooks, if it is there. It must not be empty, or git
// refuses to work.
constexpr std::string_view kCommonDirectory = "commondir";
constexpr std::string_view kHere = ".\n";

// Some names are known to be files; a reader of the host should find the right kind of nothing.
bool is_name_of_file(std::string_view name) {
  return name == "config" || name == ".envrc" || name == kCommonDirectory ||
         name.find('.', 1) != std::string_view::npos;
}

Error describe(const std::string& path, int error) {
  if (error == ELOOP) {
    return {ErrorCode::invalid_argument,
            "protected name " + path +
                ": it is a symbolic link, which cannot be held (put a file or directory in its "
                "place, or take it from the protected names)"};
  }
  return {ErrorCode::unavailable, "protected name " + path + ": " + describe_errno(error) +
                                      " (it must be possible to create it, or to read it)"};
}

}  // namespace

bool is_placeholder(const struct stat& status) {
  const mode_t mode = status.st_mode & 07777U;
  if (S_ISDIR(status.st_mode)) return mode == kDirectoryMark;
  return S_ISREG(status.st_mode) && mode == kFileMark && status.st_size <= kMarkBytesMax;
}

Placeholders::~Placeholders() {
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    struct stat held{};
    struct stat named{};
    if (::flock(made->object.number(), LOCK_EX | LOCK_NB) != 0) continue;  // others need it
    if (::fstat(made->object.number(), &held) != 0 || !is_placeholder(held)) continue;
    const int parent = made->parent.number();
    const char* name = made->name.c_str();
    if (::fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) != 0 || held.st_ino != named.st_ino ||
        held.st_dev != named.st_dev) {
      continue;
    }
    ::unlinkat(parent, name, S_ISDIR(held.st_mode) ? AT_REMOVEDIR : 0);
  }
}

Status Placeholders::make(const SandboxPlan& plan) {
  std::vector<std::string> roots = plan.write_roots;
  const auto beneath = [&](const std::string& root) {
    return is_beneath(plan.working_directory, root);
  };
  if (std::any_of(roots.begin(), roots.end(), beneath)) roots.push_back(plan.working_directory);
  for (const std::string& outer : plan.write_roots) {
    for (const std::string& path : roots) PAWL_CHECK(hold_way(outer, path));
    for (const std::string& path : plan.read_roots) PAWL_CHECK(hold_way(outer, path));
  }
  for (const std::string& root : roots) {
    for (const std::string& name : plan.protected_names) PAWL_CHECK(protect(root, name));
  }
  return ok();
}

// What lies between a write root and another place beneath it: who could rename a directory on the
// way could put another in its place, with protected names that nobody holds.
Status Placeholders::hold_way(const std::string& outer, const std::string& path) {
  if (!is_beneath(path, outer)) return ok();
  for (std::size_t at = outer.size(); at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    const Descriptor directory(::open(part.c_str(), kLook | O_DIRECTORY));
    if (!directory) {
      const int error = errno == ENOTDIR ? ELOOP : errno;
      if (error != ELOOP) return describe(part, error);
      return Error{ErrorCode::invalid_argument,
                   part + " is a symbolic link, on the way from the write root " + outer + " to " +
                       path + " (name the place that it leads to)"};
    }
    note(part, Hold::in_place);
  }
  return ok();
}

void Placeholders::note(const std::string& path, Hold hold) {
  for (ProtectedPlace& place : places_) {
    if (place.path != path) continue;
    place.hold = std::max(place.hold, hold);
    return;
  }
  places_.push_back({path, hold});
}

Result<Descriptor> Placeholders::make_one(const Descriptor& parent, const std::string& name,
                                          const std::string& path) {
  const bool file = is_name_of_file(name);
  const int made = file ? ::openat(parent.number(), name.c_str(),
                                   O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444)
                        : ::mkdirat(parent.number(), name.c_str(), 0555);
  const int error = errno;
  const Descriptor written(file ? made : -1);
  if (made < 0 && error != EEXIST) return describe(path, error);
  if (written && name == kCommonDirectory &&
      ::write(written.number(), kHere.data(), kHere.size()) < 0) {
    return describe(path, errno);
  }
  Descriptor object(::openat(parent.number(), name.c_str(), kLook));
  if (!object) return describe(path, errno);
  if (made >= 0) ::fchmod(object.number(), file ? kFileMark : kDirectoryMark);
  return object;
}

// Component by component and never through a link: a tool of an earlier call may have put it there.
Status Placeholders::protect(const std::string& root, const std::string& name) {
  Descriptor at(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string path = root;
  std::string_view rest = name;
  while (!rest.empty()) {
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    path += "/" + part;
    Descriptor next(::openat(at.number(), part.c_str(), kLook));
    if (!next && errno == ENOENT) {
      PAWL_TRY(next, make_one(at, part, path));
    } else if (!next) {
      return describe(path, errno);
    }
    struct stat status{};
    if (::fstat(next.number(), &status) != 0) return describe(path, errno);
    const bool ours = is_placeholder(status);
    // A file where a directory is expected holds all that could be beneath it.
    const bool last = rest.empty() || ours || !S_ISDIR(status.st_mode);
    note(path, last ? Hold::read_only : Hold::in_place);
    if (ours && ::flock(next.number(), LOCK_SH | LOCK_NB) == 0) {
      made_.push_back({std::move(at), Descriptor(::dup(next.number())), part});
      ::fcntl(made_.back().object.number(), F_SETFD, FD_CLOEXEC);
    }
    if (last) return ok();
    at = std::move(next);
  }
  return ok();
}

}  // namespace pawl::sandbox
