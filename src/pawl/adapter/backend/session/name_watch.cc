#include "pawl/adapter/backend/session/name_watch.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "pawl/adapter/backend/sandbox/placeholders.h"
#include "pawl/base/assert.h"
#include "pawl/base/bare_repository.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/path_text.h"

namespace pawl::backend {
namespace {

using Protection = ExecutionContext::Protection;

constexpr int kWay = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// A placeholder of another session is nothing: it is empty, and who fills it replaces it.
bool is_there(const Descriptor& parent, const std::string& part) {
  struct stat status{};
  const int found = ::fstatat(parent.number(), part.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  if (found != 0) return errno != ENOENT;
  return !sandbox::is_placeholder(status);
}

Error cannot_hold(const std::string& path) {
  return {ErrorCode::unavailable,
          "at the level landlock commands could write the protected name " + path +
              ", which is there (use the level namespace or container; or a write root without "
              "it; or accept it by protected: if_possible)"};
}

Error cannot_read_only(const std::string& path, const std::string& root) {
  return {ErrorCode::unavailable,
          "at the level landlock commands could write the read root " + path +
              ", because it lies within the write root " + root +
              " (use the level namespace or container, or put it elsewhere)"};
}

// The first is easy to find; the next are not easy to take in advance.
std::string aside_name(const std::string& part, int attempt) {
  const std::string name = "denied" + part;
  if (attempt == 0) return name;
  std::uint32_t noise = 0;
  PAWL_ASSERT(::getrandom(&noise, sizeof noise, 0) == static_cast<ssize_t>(sizeof noise));
  return name + "." + std::to_string(noise);
}

// A tool may have taken the right to write from a directory of its own.
void let_write(const Descriptor& directory) {
  struct stat status{};
  const std::string path = "/proc/self/fd/" + std::to_string(directory.number());
  if (::fstat(directory.number(), &status) != 0) return;
  ::chmod(path.c_str(), (status.st_mode & 07777U) | S_IRWXU);
}

// What it is called now.
Result<std::string> move_aside(const Descriptor& parent, const std::string& part) {
  for (int attempt = 0; attempt < kAsideAttemptsMax; ++attempt) {
    std::string aside = aside_name(part, attempt);
    if (::syscall(SYS_renameat2, parent.number(), part.c_str(), parent.number(), aside.c_str(),
                  RENAME_NOREPLACE) == 0) {
      return aside;
    }
    if (errno != EEXIST && errno != EACCES) break;
    if (errno == EACCES) let_write(parent);
  }
  return Error{ErrorCode::unavailable, describe_errno(errno)};
}

}  // namespace

Status NameWatch::add_places(const ExecutionContext& context) {
  std::vector<std::string> paths = context.write_roots;
  const auto outer = [&](const std::string& root) {
    return is_beneath(context.working_directory, root);
  };
  if (std::ranges::any_of(paths, outer)) paths.push_back(context.working_directory);
  for (std::string& path : paths) {
    Descriptor directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory) {
      return Error{ErrorCode::unavailable, path + ": " + describe_errno(errno) + " (create it)"};
    }
    const bool repository = is_bare_repository(directory);
    places_.push_back({std::move(path), std::move(directory), repository});
  }
  return ok();
}

Result<NameWatch> NameWatch::open_for_repositories(const ExecutionContext& context) {
  NameWatch watch;
  PAWL_CHECK(watch.add_places(context));
  return watch;
}

Result<NameWatch> NameWatch::open(const ExecutionContext& context) {
  for (const std::string& root : context.write_roots) {
    for (const std::string& path : context.read_roots) {
      if (is_within(path, root)) return cannot_read_only(path, root);
    }
  }
  NameWatch watch;
  PAWL_CHECK(watch.add_places(context));
  for (const Place& place : watch.places_) {
    for (const std::string& name : context.protected_names) {
      PAWL_CHECK(watch.add(place, name, context.protection));
    }
  }
  return watch;
}

Status NameWatch::add(const Place& place, const std::string& name, Protection protection) {
  Descriptor parent(::fcntl(place.directory.number(), F_DUPFD_CLOEXEC, 0));
  std::string shown = place.path;
  std::string_view rest = name;
  while (parent && !rest.empty()) {
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    shown += "/" + part;
    if (!is_there(parent, part)) {
      const auto same = [&](const Name& known) { return known.shown == shown; };
      if (std::ranges::none_of(names_, same)) names_.push_back({shown, std::move(parent), part});
      return ok();
    }
    if (protection == Protection::held) return cannot_hold(shown);
    parent.reset(::openat(parent.number(), part.c_str(), kWay));
  }
  return ok();
}

bool NameWatch::is_new_repository(const Place& place) {
  return !place.was_repository && is_bare_repository(place.directory);
}

bool NameWatch::is_touched() const {
  const auto moved = [](const Place& place) {
    struct stat held{};
    struct stat named{};
    return ::fstat(place.directory.number(), &held) != 0 ||
           ::stat(place.path.c_str(), &named) != 0 || held.st_ino != named.st_ino ||
           held.st_dev != named.st_dev;
  };
  const auto made = [](const Name& name) { return is_there(name.parent, name.part); };
  // Where the kernel holds names it holds their places, too.
  const bool away = !names_.empty() && std::ranges::any_of(places_, moved);
  return away || std::ranges::any_of(places_, is_new_repository) ||
         std::ranges::any_of(names_, made);
}

std::vector<std::string> NameWatch::put_aside() const {
  std::vector<std::string> said;
  const auto put = [&](const std::string& what, const Descriptor& parent, const std::string& part) {
    const auto aside = move_aside(parent, part);
    said.push_back(aside ? what + ": it was put aside as " + *aside
                         : what + ", and could not be put aside: " + aside.error().message +
                               " (remove it)");
  };
  for (const Name& name : names_) {
    if (!is_there(name.parent, name.part)) continue;
    put(name.shown + " is a protected name", name.parent, name.part);
  }
  for (const Place& place : places_) {
    if (!is_new_repository(place)) continue;
    put(place.path + "/HEAD makes a git repository of this directory", place.directory, "HEAD");
  }
  if (said.empty() && is_touched()) {
    said.push_back("a directory that protected names are relative to was moved away (put it back)");
  }
  return said;
}

}  // namespace pawl::backend
