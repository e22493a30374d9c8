#include "pawl/adapter/backend/session/name_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "pawl/base/bare_repository.h"
#include "pawl/base/link_free_path.h"
#include "pawl/base/path_text.h"
#include "pawl/port/protected_names.h"

namespace pawl::backend {
namespace {

using Protection = ExecutionContext::Protection;

constexpr int kWay = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Error cannot_hold(const std::string& path) {
  return {ErrorCode::unavailable,
          "at the level landlock commands could write the protected name " + path +
              ", which is there (use the level namespace or container; or a write root without "
              "it; or accept it by protected: if_possible)"};
}

Error cannot_nest(const std::string& what, const std::string& path, const std::string& root) {
  return {ErrorCode::unavailable, "at the level landlock commands could " + what + " " + path +
                                      ", because it lies within the root " + root +
                                      " (use the level namespace or container, or put it "
                                      "elsewhere)"};
}

// A rule of Landlock can only add to those of the directories above.
Status check_nesting(const sandbox::SandboxPlan& plan) {
  for (const std::string& root : plan.write_roots) {
    for (const std::string& path : plan.read_roots) {
      if (is_within(path, root)) return cannot_nest("write the read root", path, root);
    }
  }
  for (const auto* roots : {&plan.write_roots, &plan.read_roots}) {
    for (const std::string& root : *roots) {
      for (const std::string& path : plan.deny_roots) {
        if (is_within(path, root)) return cannot_nest("read the denied", path, root);
      }
    }
  }
  return ok();
}

}  // namespace

Status NameWatch::add_place(const std::string& path) {
  PAWL_TRY(Descriptor directory, open_link_free(path, O_PATH | O_DIRECTORY));
  const bool repository = is_bare_repository(directory.number());
  places_.push_back({path, std::move(directory), repository});
  return ok();
}

Result<NameWatch> NameWatch::open(const sandbox::SandboxPlan& plan, Protection protection) {
  const bool alone = plan.level == IsolationLevel::landlock;
  if (alone) PAWL_CHECK(check_nesting(plan));
  const bool refuse = alone && protection == Protection::held;
  NameWatch watch;
  for (const std::string& path : sandbox::places_of(plan)) PAWL_CHECK(watch.add_place(path));
  for (std::size_t place = 0; place < watch.places_.size(); ++place) {
    for (const auto* names : {&plan.protected_names, &plan.hidden_names}) {
      for (const std::string& name : *names) PAWL_CHECK(watch.add_name(place, name, refuse));
    }
    if (std::ranges::find(plan.protected_names, kGitName) != plan.protected_names.end()) {
      PAWL_CHECK(watch.add_git_names(place, refuse));
    }
    for (const std::string& path : plan.protected_places) {
      const std::string& root = watch.places_[place].path;
      if (!is_beneath(path, root)) continue;
      PAWL_CHECK(watch.add_name(place, path.substr(root.size() + 1), refuse));
    }
  }
  return watch;
}

// Of a repository that is there and accepted: what leads git elsewhere.
Status NameWatch::add_git_names(std::size_t place, bool refuse) {
  for (const char* name : {".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir",
                           ".git/modules", ".git/worktrees"}) {
    PAWL_CHECK(add_name(place, name, refuse));
  }
  return ok();
}

Status NameWatch::add_name(std::size_t place, const std::string& name, bool refuse) {
  Name added{place, name};
  // A repository is refused, or taken if a command has made it, as a whole.
  if (name.starts_with(".git/") && (refuse || !find({place, ".git"}))) added.name = ".git";
  if (const auto found = find(added)) return refuse ? Status(cannot_hold(found->shown)) : ok();
  const std::string path = places_[place].path + "/" + added.name;
  const auto same = [&](const Name& known) {
    return places_[known.place].path + "/" + known.name == path;
  };
  if (std::ranges::none_of(names_, same)) names_.push_back(std::move(added));
  return ok();
}

// Component by component. A link on the way counts as the thing itself: where it leads is not ours
// to hold, and it was not there when the session began.
std::optional<NameWatch::Found> NameWatch::find(const Name& name) const {
  const Place& place = places_[name.place];
  Descriptor parent(::fcntl(place.directory.number(), F_DUPFD_CLOEXEC, 0));
  std::string shown = place.path;
  std::string_view rest = name.name;
  while (parent && !rest.empty()) {
    std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    shown += "/" + part;
    struct stat status{};
    if (::fstatat(parent.number(), part.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 &&
        (errno == ENOENT || errno == ENOTDIR)) {
      return std::nullopt;
    }
    if (rest.empty() || S_ISLNK(status.st_mode)) return Found{std::move(parent), part, shown};
    if (!S_ISDIR(status.st_mode)) return std::nullopt;
    parent.reset(::openat(parent.number(), part.c_str(), kWay));
  }
  return std::nullopt;
}

void NameWatch::arm(PlaceWatch& watch) const {
  for (const Place& place : places_) watch.add_directory(place.path);
  for (const char* part : {"HEAD", "objects", "refs", "commondir"}) watch.add_name(part);
  for (const Name& name : names_) {
    std::string directory = places_[name.place].path;
    std::string_view rest = name.name;
    while (!rest.empty()) {
      const std::string part(rest.substr(0, rest.find('/')));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      watch.add_name(part);
      directory += "/" + part;
      struct stat status{};
      if (rest.empty() || ::lstat(directory.c_str(), &status) != 0) break;
      if (S_ISDIR(status.st_mode)) watch.add_directory(directory);
    }
  }
}

bool NameWatch::is_new_repository(const Place& place) {
  return !place.was_repository && is_bare_repository(place.directory.number());
}

bool NameWatch::is_away() const {
  return std::ranges::any_of(places_, [](const Place& place) {
    struct stat held{};
    struct stat named{};
    return ::fstat(place.directory.number(), &held) != 0 ||
           ::stat(place.path.c_str(), &named) != 0 || held.st_ino != named.st_ino ||
           held.st_dev != named.st_dev;
  });
}

bool NameWatch::is_touched() const {
  return is_away() || std::ranges::any_of(places_, is_new_repository) ||
         std::ranges::any_of(names_, [&](const Name& name) { return find(name).has_value(); });
}

std::vector<std::string> NameWatch::take(const TakenNames& store) const {
  std::vector<std::string> said;
  for (const Name& name : names_) {
    const auto found = find(name);
    if (!found) continue;
    said.push_back(describe_taken(found->shown, store.take(found->parent, found->part)));
  }
  for (const Place& place : places_) {
    if (!is_new_repository(place)) continue;
    const auto taken = store.take(place.directory, "HEAD");
    said.push_back(place.path + "/HEAD makes a git repository of this directory" +
                   (taken ? ": it was moved to " + *taken
                          : ", and could not be taken away: " + taken.error().message));
  }
  if (is_away()) {
    said.push_back("a directory that protected names are relative to was moved away (put it back)");
  }
  return said;
}

std::vector<std::string> NameWatch::take_now(const TakenNames& store) const {
  std::vector<std::string> said;
  for (const Name& name : names_) {
    const auto found = find(name);
    if (!found) continue;
    const auto taken = store.take_now(found->parent, found->part);
    if (taken) said.push_back(describe_taken(found->shown, taken));
  }
  return said;
}

std::vector<std::string> NameWatch::absent() const {
  std::vector<std::string> paths;
  for (const Name& name : names_) paths.push_back(places_[name.place].path + "/" + name.name);
  return paths;
}

bool NameWatch::accept(const std::string& path) {
  const auto erased = std::erase_if(names_, [&](const Name& name) {
    return is_within(path, places_[name.place].path + "/" + name.name);
  });
  return erased > 0;
}

}  // namespace pawl::backend
