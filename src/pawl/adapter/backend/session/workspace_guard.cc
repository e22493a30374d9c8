#include "pawl/adapter/backend/session/workspace_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pawl/adapter/backend/files/workspace_walk.h"
#include "pawl/adapter/backend/session/left_names.h"
#include "pawl/adapter/backend/session/second_names.h"
#include "pawl/base/path_text.h"
#include "pawl/port/protected_names.h"

namespace pawl::backend {
namespace {

constexpr int kLooksForHeld = 20;
constexpr int kLookForHeldMs = 10;

bool is_one_of(const std::vector<std::string>& names, const std::string& path) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return path.ends_with("/" + name); });
}

bool is_link(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) != 0 || S_ISLNK(status.st_mode);
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::vector<std::string> nested_names(const sandbox::SandboxPlan& plan) {
  std::vector<std::string> names = names_anywhere(plan.protected_names);
  std::ranges::copy(names_anywhere(plan.hidden_names), std::back_inserter(names));
  return names;
}

// Nested ones; a link among them cannot be held, and is no file of its own.
Result<WorkspaceFindings> find_nested(sandbox::SandboxPlan& plan) {
  const std::vector<std::string> hidden = names_anywhere(plan.hidden_names);
  PAWL_TRY(WorkspaceFindings found, walk_workspace(plan.write_roots, nested_names(plan)));
  for (const std::string& path : found.names) {
    if (is_link(path)) continue;
    auto& places = is_one_of(hidden, path) ? plan.hidden_places : plan.found_places;
    places.push_back(path);
  }
  return found;
}

// A tool of an earlier session may have made a second name for what became a protected file later.
Status hold_second_names(sandbox::SandboxPlan& plan, sandbox::ProtectedPlaces& places,
                         std::vector<std::string>& remarks) {
  const SecondNames names = find_second_names(plan, places.places());
  for (const std::string& path : names.unfound) {
    remarks.push_back(path +
                      " has another name (a hard link), and the work tree is too large to look for "
                      "it: it may be read or written by that name");
  }
  if (names.read_only.empty() && names.hidden.empty()) return ok();
  std::ranges::copy(names.read_only, std::back_inserter(plan.found_places));
  std::ranges::copy(names.hidden, std::back_inserter(plan.hidden_places));
  return places.find(plan);
}

}  // namespace

std::vector<std::string> names_anywhere(const std::vector<std::string>& names) {
  std::vector<std::string> kept;
  for (const std::string& name : names) {
    if (reach_of(name) == NameReach::anywhere && name != kGitName) kept.push_back(name);
  }
  return kept;
}

Result<std::unique_ptr<WorkspaceGuard>> WorkspaceGuard::open(sandbox::SandboxPlan& plan,
                                                             const ExecutionContext& context) {
  TakenNames store(context.taken_directory, context.run.text);
  std::vector<std::string> remarks = take_left_names(store.directory());
  PAWL_TRY(NameWatch names, NameWatch::open(plan, context.protection));
  std::unique_ptr<WorkspaceGuard> guard(new WorkspaceGuard(std::move(names), std::move(store)));
  guard->remarks_ = std::move(remarks);
  const bool mounts = plan.level != IsolationLevel::landlock;
  PAWL_TRY(const WorkspaceFindings found, find_nested(plan));
  guard->known_.insert(found.names.begin(), found.names.end());
  if (!found.complete) {
    guard->remarks_.push_back(
        "the work tree is too large to be searched for protected names as a whole; those deep in "
        "it may not be held");
  }
  sandbox::ProtectedPlaces places;
  if (mounts) {
    PAWL_CHECK(places.find(plan));
    PAWL_CHECK(hold_second_names(plan, places, guard->remarks_));
  }
  guard->arm(places.places());
  AbsentNames absent{guard->names_.absent()};
  if (found.complete) {  // otherwise a name that is met later may have been there
    absent.roots = plan.write_roots;
    absent.names = nested_names(plan);
    absent.known = found.names;
  }
  PAWL_TRY(guard->note_, AbsentNote::write(guard->store_, context.run.text, absent));
  return guard;
}

void WorkspaceGuard::arm(const std::vector<sandbox::ProtectedPlace>& places) {
  names_.arm(watch_);
  for (const sandbox::ProtectedPlace& place : places) {
    watch_.add_directory(parent_of(place.path));
    watch_.add_name(place.path.substr(place.path.rfind('/') + 1));
  }
}

void WorkspaceGuard::hold(std::vector<sandbox::ProtectedPlace> places) {
  held_ = std::move(places);
  watch_.begin();
}

void WorkspaceGuard::wait_for_held() const {
  const auto is_there = [](const sandbox::ProtectedPlace& place) {
    struct stat status{};
    return ::lstat(place.path.c_str(), &status) == 0;
  };
  for (int look = 0; look < kLooksForHeld && !std::ranges::all_of(held_, is_there); ++look) {
    ::poll(nullptr, 0, kLookForHeldMs);
  }
}

// A file that is made anew where one was removed (git does that) may look like the first one to the
// end of its number and the moment of its birth; but its mount is gone. A directory takes its mount
// along, and may have come back.
bool WorkspaceGuard::holds(const sandbox::ProtectedPlace& place) const {
  return place.is_unchanged() && (place.is_directory || !watch_.has_moved(place.path));
}

std::vector<std::string> WorkspaceGuard::replaced() {
  std::vector<std::string> paths;
  if (held_.empty() || !watch_.has_news()) return paths;
  for (const sandbox::ProtectedPlace& place : held_) {
    if (!holds(place)) paths.push_back(place.path);
  }
  return paths;
}

// A directory's own writes are not seen: its new content is looked at by a person.
bool WorkspaceGuard::was_written(const std::string& path) {
  watch_.has_news();
  struct stat status{};
  const bool directory = ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  return directory || watch_.was_written(path);
}

bool WorkspaceGuard::was_removed(const std::string& path) {
  watch_.has_news();
  struct stat status{};
  return watch_.was_removed(path) && ::lstat(path.c_str(), &status) != 0;
}

// News that is about nothing here is forgotten; what follows is looked at again.
bool WorkspaceGuard::is_touched() {
  if (!watch_.has_news()) return false;
  names_.arm(watch_);
  if (names_.is_touched()) return true;
  const auto is_held = [this](const sandbox::ProtectedPlace& place) { return holds(place); };
  if (std::ranges::all_of(held_, is_held)) watch_.forget();
  return false;
}

std::vector<std::string> WorkspaceGuard::take() {
  return names_.take(store_);
}

std::vector<std::string> WorkspaceGuard::take_now() {
  if (!is_touched()) return {};
  return names_.take_now(store_);
}

std::vector<std::string> WorkspaceGuard::new_among(const std::vector<std::string>& found) const {
  std::vector<std::string> fresh;
  for (const std::string& path : found) {
    if (!known_.contains(path)) fresh.push_back(path);
  }
  return fresh;
}

std::vector<std::string> WorkspaceGuard::take_paths(const std::vector<std::string>& paths) const {
  std::vector<std::string> said;
  for (const std::string& path : paths) {
    const Descriptor parent(
        ::open(parent_of(path).c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!parent) continue;
    said.push_back(describe_taken(path, store_.take(parent, path.substr(path.rfind('/') + 1))));
  }
  return said;
}

bool WorkspaceGuard::accept(const std::string& path) {
  return names_.accept(path);
}

}  // namespace pawl::backend
