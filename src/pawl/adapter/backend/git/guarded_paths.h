// Names that commands cannot write in the work tree must not come there by git either: a command
// can commit any bytes under any name, and the operator's next checkout, stash or merge would write
// them. So what a session publishes may change such a name only to something that the operator has
// there already: in the work tree, which no command has written, or in the history outside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/git/host_git.h"
#include "pawl/adapter/backend/git/repository.h"
#include "pawl/backend.h"
#include "pawl/result.h"

namespace pawl::git {

inline constexpr std::size_t kGuardedChangesMax = 256;  // at a time; more are not published

struct GuardedPaths {
  std::vector<std::string> anywhere;  // names at every depth
  std::vector<std::string> places;    // absolute

  static GuardedPaths of(const ExecutionContext& context);
  // `path` is relative to the work tree.
  bool holds(const std::string& work_tree, std::string_view path) const;
  std::vector<std::string> pathspecs(const std::string& work_tree) const;
};

// What becomes of a path.
struct GuardedChange {
  std::string path;
  std::string mode;
  std::string object;  // zeros: it is removed

  friend auto operator<=>(const GuardedChange&, const GuardedChange&) = default;
};

// Of `git log --raw -z -c`.
Result<std::vector<GuardedChange>> changes_in_log(std::string_view log);
// Of the input of `git update-index -z --index-info`.
std::vector<GuardedChange> changes_in_index(std::string_view input);

class GuardedLook {
 public:
  GuardedLook(const HostGit& git, const Repository& repository, const GuardedPaths& paths)
      : git_(git), repository_(repository), paths_(paths) {}

  // The first change that is not the operator's, in a sentence; empty: there is none. The host has
  // all that the tips lead to.
  std::string fault_of_commits(const std::vector<std::string>& tips) const;
  std::string fault_of_index(std::string_view input) const;

 private:
  std::string fault_of(std::vector<GuardedChange> changes) const;
  bool is_operators(const GuardedChange& change) const;
  bool is_in_work_tree(const GuardedChange& change) const;
  bool has_object_of(const std::string& text, const std::string& object) const;

  const HostGit& git_;
  const Repository& repository_;
  const GuardedPaths& paths_;
};

}  // namespace pawl::git
