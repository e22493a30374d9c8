// One repository of a session: the operator's outside, the session's own inside, and what goes from
// one to the other between calls.
//
// What only one side has moved since both agreed, the other gets: refs, HEAD and index. What both
// have moved is left as it is on both sides, and said; a branch is published after all when it
// contains what the host's has come to. HEAD and index wait while a merge or a rebase is under way.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/host_git.h"
#include "pawl/adapter/backend/git/inside_git.h"
#include "pawl/adapter/backend/git/private_directory.h"
#include "pawl/adapter/backend/git/session_settings.h"
#include "pawl/adapter/backend/git/settling.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/adapter/backend/sandbox/taken_names.h"

namespace pawl::git {

class HeldRepository {
 public:
  // Whether a submodule at this path (absolute) may be told to the host's git.
  using MayLink = std::function<bool(const std::string& path)>;

  static Result<HeldRepository> open(const HostGit& git, Repository repository,
                                     const std::string& git_directory, const Owner& owner);

  const Repository& repository() const { return repository_; }
  const PrivateDirectory& place() const { return place_; }
  // Of the private directory, the objects and the hooks.
  std::vector<sandbox::PlanMount> mounts() const;
  std::string directory_inside() const;
  // Submodules that are empty directories: who filled one would be believed by the host's git.
  const std::vector<std::string>& empty_links() const { return links_; }

  // Whether either side has changed anything since the last settle(). Costs some calls of stat().
  bool is_touched() const;
  // A sentence for each thing that could not be done, if it was not said the last time.
  // `guarded`: what no commit may change.
  std::vector<std::string> settle(const RunInside& run, const MayLink& may_link,
                                  const GuardedPaths& guarded);
  // Whether git inside no longer works on the directory. A command did that.
  bool is_damaged() const { return is_damaged_; }
  // When nothing runs: moves the directory to where taken things are. It is of no use afterwards,
  // and the next open() makes a new one. Where the old one is.
  Result<std::string> set_aside(const backend::TakenNames& store);
  // When nothing runs any more: taken away if the host has all of it.
  void finish();

 private:
  // Of both sides, without reading them.
  struct Marks {
    Digest host;
    Digest own;
    friend bool operator==(const Marks&, const Marks&) = default;
  };
  HeldRepository(const HostGit& git, Repository repository, PrivateDirectory place)
      : git_(&git), repository_(std::move(repository)), place_(std::move(place)), settings_(git) {}
  Status write_settings();
  Status begin();
  Status fill(const GitState& host);
  Marks look() const;

  const HostGit* git_;
  Repository repository_;
  PrivateDirectory place_;
  SessionSettings settings_;
  Agreement agreement_;
  Doer doer_ = Doer::this_session;  // until the first look
  std::vector<std::string> links_;  // submodules of the host's that are empty directories
  std::optional<Marks> seen_;       // when there was nothing to do
  std::vector<std::string> said_;
  bool is_settled_ = false;  // the host has all
  bool is_damaged_ = false;
};

}  // namespace pawl::git
