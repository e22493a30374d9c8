// The host's side of what a session has made: objects, refs, HEAD and index, each under git's own
// locks and only if it is still as it was seen.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/git/git_state.h"
#include "pawl/adapter/backend/git/host_git.h"
#include "pawl/adapter/backend/git/inside_git.h"
#include "pawl/adapter/backend/git/ref_plan.h"
#include "pawl/result.h"

namespace pawl::git {

inline constexpr std::uint64_t kPackBytesMax = 1ULL << 30U;
inline constexpr std::size_t kStashesMax = 64;
inline constexpr std::string_view kStash = "refs/stash";
// Prints the stash, newest first.
inline constexpr std::string_view kStashScript =
    "git rev-parse -q --verify refs/stash >/dev/null || exit 0; "
    "exec git log -g -n 64 --format=%H refs/stash --";
// What the log of the stash names, newest first.
std::vector<std::string> stashes_in(std::string_view log);
// Objects, a line each; what is none is left out.
std::vector<std::string> parse_objects(const std::string& lines);

class Publisher {
 public:
  // `notes` is a directory for noted_lock.h.
  Publisher(const HostGit& git, const Repository& repository, int notes)
      : git_(git), repository_(repository), notes_(notes) {}

  Result<GitState> state() const;
  // Branches that other work trees have checked out.
  Result<std::set<std::string>> branches_elsewhere() const;

  // All that the tips need and `known` does not have, by a pack that git writes inside. Afterwards
  // the host has every one of them, and all that belongs to it.
  Status import(const InsideGit& inside, const std::vector<std::string>& tips,
                const Refs& known) const;
  // conflict: somebody has moved it meanwhile, or git does not want it, in its words.
  Status move_ref(const RefStep& step) const;
  // The stash is a list, newest first, which git keeps in the log of its ref.
  Status move_stash(const RefStep& step, const std::vector<std::string>& own) const;
  std::vector<std::string> stashes() const;
  Status drop_stash(std::size_t number) const;
  Status move_head(const GitState& host, const std::string& to) const;
  bool is_ancestor(const std::string& older, const std::string& newer) const;
  // Whether another ref of the host's leads to what this one is at.
  bool is_reachable_without(const std::string& ref, const std::string& object) const;

  Result<std::string> index() const;  // as `git ls-files -s -z` prints it
  // Whether the index, which is listed, has what a commit has and nothing else.
  bool is_index_clean(const std::string& commit, const std::string& listed) const;
  // `changes` as index_changes() gives them.
  Status move_index(const GitState& host, const std::string& changes) const;

 private:
  Result<std::string> built_index(const std::string& changes) const;

  const HostGit& git_;
  const Repository& repository_;
  int notes_;
};

}  // namespace pawl::git
