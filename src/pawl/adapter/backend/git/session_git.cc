#include "pawl/adapter/backend/git/session_git.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <utility>

#include "pawl/adapter/backend/git/config_filter.h"
#include "pawl/adapter/backend/git/left_repositories.h"
#include "pawl/adapter/backend/git/made_repository.h"
#include "pawl/adapter/backend/git/operator_programs.h"
#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/path_text.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

using Access = sandbox::PlanMount::Access;

constexpr int kTakeRoundsMax = 64;
constexpr std::string_view kWithoutData = "pawl-gitdir-";

// A host that is root runs tools as whoever owns the first root; see sandbox/host_identity.h.
Owner owner_of_tools(const ExecutionContext& context) {
  struct stat status{};
  const std::string& place =
      context.write_roots.empty() ? context.working_directory : context.write_roots.front();
  if (::geteuid() != 0 || ::stat(place.c_str(), &status) != 0) return {::geteuid(), ::getegid()};
  return {status.st_uid, status.st_gid};
}

}  // namespace

SessionGit::SessionGit(const ExecutionContext& context)
    : roots_(context.write_roots),
      git_directory_(context.git_directory),
      taken_(context.taken_directory, context.run.text),
      owner_(owner_of_tools(context)),
      guarded_(GuardedPaths::of(context)) {}

Result<std::unique_ptr<SessionGit>> SessionGit::open(const ExecutionContext& context) {
  std::unique_ptr<SessionGit> session(new SessionGit(context));
  if (session->git_directory_.empty()) {
    sandbox::sweep_directories(kWithoutData);
    PAWL_TRY(session->own_directory_, sandbox::OwnDirectory::make(kWithoutData));
    session->git_directory_ = session->own_directory_.path();
  }
  remove_left_locks(session->git_directory_);
  auto git = HostGit::find();
  if (git) {
    session->git_ = std::make_unique<HostGit>(*std::move(git));
    PAWL_CHECK(session->write_identity());
  }
  session->to_say_ =
      take_left_repositories(session->git_.get(), session->git_directory_, session->taken_);
  PAWL_TRY(session->record_, KeptRecord::make(session->git_directory_));
  session->except_ = directories_of_pawl(session->git_directory_, session->taken_);
  const FoundRepositories found = find_repositories(session->roots_, {}, session->except_);
  for (const std::string& work_tree : found.work_trees) PAWL_CHECK(session->add(work_tree));
  for (const std::string& path : found.bare) session->add_bare(path);
  session->made_bounds_ = found.complete ? kFindAll : FindBounds{};
  if (!found.complete) {
    session->to_say_.emplace_back(
        "there are more directories beneath the roots than are looked through: repositories among "
        "the rest are not held, do not use git in them");
  }
  PAWL_CHECK(session->keep_record());
  return session;
}

Status SessionGit::keep_record() const {
  SessionRecord record{roots_, read_only_};
  record.work_trees.insert(record.work_trees.end(), bare_.begin(), bare_.end());
  for (const HeldRepository& held : held_) record.work_trees.push_back(held.repository().work_tree);
  return record_.write(record);
}

// Who commits, also in repositories that commands make.
Status SessionGit::write_identity() {
  PAWL_TRY(const std::string listed, git_->settings("/"));
  if (::mkdir(git_directory_.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::unavailable, git_directory_ + ": " + describe_errno(errno)};
  }
  const Descriptor at(::open(git_directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  settings_ = git_directory_ + "/settings";
  return replace_beneath(at.number(), "settings", config_text(harmless_settings(listed)), {});
}

Status SessionGit::add(const std::string& work_tree) {
  PAWL_TRY(Repository repository, describe_repository(work_tree, roots_));
  PAWL_CHECK(protect_programs(work_tree));
  if (!git_) repository.obstacle = "this machine has no git";
  if (!repository.obstacle.empty()) {
    add_read_only(repository);
    return ok();
  }
  auto held = hold(repository);
  if (held) {
    held_.push_back(*std::move(held));
    return ok();
  }
  repository.obstacle = held.error().message;
  add_read_only(repository);
  return ok();
}

// A damaged agreement of a killed session does not say which side has moved: its git directory is
// set aside, and another one made.
Result<HeldRepository> SessionGit::hold(const Repository& repository) {
  auto held = HeldRepository::open(*git_, repository, git_directory_, owner_);
  if (held || held.error().code != ErrorCode::corrupt) return held;
  std::string where;
  {
    PAWL_TRY(PrivateDirectory left, PrivateDirectory::take(git_directory_, repository, owner_));
    PAWL_TRY(where, left.set_aside(taken_));
  }
  to_say_.push_back(held.error().message + ": the git directory of a session that was killed, " +
                    "with commits that were not published, was moved to " + where);
  return HeldRepository::open(*git_, repository, git_directory_, owner_);
}

// What the operator's git runs of the work tree itself.
Status SessionGit::protect_programs(const std::string& work_tree) {
  const auto listed = git_ ? git_->settings_with_origins(work_tree) : Result<std::string>("");
  if (!listed) {
    to_say_.push_back("the git settings of " + work_tree + " cannot be read (" +
                      listed.error().message +
                      "), so nothing holds the files there that git runs outside");
    return ok();
  }
  PAWL_TRY(const auto found, operator_programs(*listed, work_tree, roots_));
  programs_.insert(programs_.end(), found.begin(), found.end());
  guarded_.places.insert(guarded_.places.end(), found.begin(), found.end());
  return ok();
}

// The operator's git believes its configuration, and nothing of it is published.
void SessionGit::add_bare(const std::string& path) {
  bare_.push_back(path);
  if (std::ranges::find(roots_, path) != roots_.end()) return;  // name_watch.h
  read_only_places_.push_back(path);
  to_say_.push_back(path + " can only be read here: it is a bare repository");
}

void SessionGit::add_read_only(const Repository& repository) {
  const std::string path = repository.work_tree + "/.git";
  read_only_.push_back(repository.work_tree);
  read_only_places_.push_back(path);
  for (const std::string& other : {repository.directory, repository.common}) {
    const auto writable = [&](const std::string& root) { return is_within(other, root); };
    if (other != path && !other.empty() && std::ranges::any_of(roots_, writable)) {
      read_only_places_.push_back(other);
    }
  }
  to_say_.push_back(path + " can only be read here: " + repository.obstacle);
}

std::vector<sandbox::PlanMount> SessionGit::mounts() const {
  std::vector<sandbox::PlanMount> mounts;
  if (!settings_.empty()) mounts.push_back({settings_, "/etc/gitconfig", Access::read});
  for (const HeldRepository& held : held_) {
    for (sandbox::PlanMount& mount : held.mounts()) mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::vector<std::string> SessionGit::protected_places() const {
  std::vector<std::string> places = read_only_places_;
  std::ranges::copy(programs_, std::back_inserter(places));
  for (const HeldRepository& held : held_) {
    places.push_back(held.repository().work_tree + "/.git");
    std::ranges::copy(held.empty_links(), std::back_inserter(places));
  }
  return places;
}

std::vector<std::string> SessionGit::places() const {
  std::vector<std::string> places;
  for (const HeldRepository& held : held_) places.push_back(held.place().path());
  return places;
}

std::vector<std::string> SessionGit::settle(const RunInside& run) {
  const auto may_link = [&](const std::string& path) {
    return std::ranges::any_of(
        held_, [&](const HeldRepository& held) { return held.repository().work_tree == path; });
  };
  std::vector<std::string> said = std::exchange(to_say_, {});
  for (HeldRepository& held : held_) {
    if (!held.is_touched()) continue;
    for (std::string& text : held.settle(run, may_link, guarded_)) said.push_back(std::move(text));
  }
  return said;
}

bool SessionGit::is_known(const std::string& work_tree) const {
  const auto is_it = [&](const HeldRepository& held) {
    return held.repository().work_tree == work_tree;
  };
  return std::ranges::find(read_only_, work_tree) != read_only_.end() ||
         std::ranges::any_of(held_, is_it);
}

bool SessionGit::is_own_work_tree(const std::string& work_tree) const {
  return std::ranges::any_of(held_, [&](const HeldRepository& held) {
    return is_work_tree_of(work_tree, held.directory_inside());
  });
}

SessionGit::Made SessionGit::find_made() const {
  FoundRepositories found = find_repositories(roots_, made_bounds_, except_);
  Made made{std::move(found.work_trees), std::move(found.bare), found.complete};
  std::erase_if(made.work_trees, [&](const std::string& work_tree) {
    return is_known(work_tree) || is_own_work_tree(work_tree);
  });
  std::erase_if(made.bare, [&](const std::string& path) {
    return std::ranges::find(bare_, path) != bare_.end();
  });
  return made;
}

bool SessionGit::has_made() const {
  const Made made = find_made();
  return !made.work_trees.empty() || !made.bare.empty() || is_hidden(made);
}

// A walk that ended early although the one at the beginning did not.
bool SessionGit::is_hidden(const Made& made) const {
  return !made.complete && made_bounds_.entries > FindBounds{}.entries && !has_warned_;
}

std::vector<std::string> SessionGit::take_made() {
  std::vector<std::string> said;
  for (int round = 0; round < kTakeRoundsMax; ++round) {
    const Made made = find_made();
    for (const std::string& work_tree : made.work_trees) said.push_back(take(work_tree));
    for (const std::string& path : made.bare) said.push_back(take_bare(path));
    if (is_hidden(made) && made.work_trees.empty() && made.bare.empty()) {
      has_warned_ = true;
      said.emplace_back(
          "there are too many files to find every repository that was made: do not use git, "
          "outside, in a directory that a command made");
    }
    if (made.complete) break;
  }
  if (said.size() > kSaidMax) {
    said.resize(kSaidMax);
    said.emplace_back("and more of the same");
  }
  return said;
}

std::string SessionGit::take_bare(const std::string& path) {
  const auto where = take_git(path + "/HEAD", taken_);
  if (!where) {
    bare_.push_back(path);
    return path +
           " is a bare repository, and could not be made harmless: " + where.error().message +
           " (remove it)";
  }
  return path +
         " is a bare repository, and git outside would believe its configuration: its HEAD was "
         "taken away, to " +
         *where + " (make bare repositories in /tmp)";
}

std::string SessionGit::take(const std::string& work_tree) {
  const std::string path = work_tree + "/.git";
  const bool full = held_.size() + read_only_.size() >= kFoundRepositoriesMax;
  if (git_ && !full && is_made_repository(path)) {
    const Status taken = take_made_repository(*git_, work_tree, git_directory_);
    const Status added = taken ? add(work_tree) : taken;
    if (added && keep_record()) {
      return path +
             " is a new repository: it was kept, and from now on its commits are published when "
             "a call ends, its configuration and hooks are not";
    }
    if (taken) {
      return path + " is a new repository, and could not be kept: " +
             (added ? "its name could not be written down" : added.error().message);
    }
  }
  const auto where = take_git(path, taken_);
  if (!where) return path + " could not be taken away: " + where.error().message;
  return path +
         (full ? " is one repository too many"
               : " is not a repository of its own, and git outside would follow it") +
         ": it was taken away, to " + *where;
}

bool SessionGit::is_damaged() const {
  return std::ranges::any_of(held_, &HeldRepository::is_damaged);
}

std::vector<std::string> SessionGit::repair() {
  std::vector<std::string> said;
  std::vector<std::string> work_trees;
  for (HeldRepository& held : held_) {
    if (!held.is_damaged()) continue;
    const std::string path = held.repository().work_tree;
    const auto aside = held.set_aside(taken_);
    said.push_back(path + "/.git was damaged by a command, and was made anew from the operator's" +
                   (aside ? "; the damaged one, with commits that were not published, is " + *aside
                          : ": " + aside.error().message));
    work_trees.push_back(path);
  }
  std::erase_if(held_, &HeldRepository::is_damaged);
  for (const std::string& work_tree : work_trees) {
    if (const Status added = add(work_tree); !added) said.push_back(added.error().message);
  }
  return said;
}

void SessionGit::finish() {
  for (HeldRepository& held : held_) held.finish();
  held_.clear();
  record_.remove();
}

}  // namespace pawl::git
