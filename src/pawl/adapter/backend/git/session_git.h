// The git repositories of a session: which there are beneath its roots, what tools see of them, and
// what becomes of those that tools make.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/find_repositories.h"
#include "pawl/adapter/backend/git/guarded_paths.h"
#include "pawl/adapter/backend/git/held_repository.h"
#include "pawl/adapter/backend/git/host_git.h"
#include "pawl/adapter/backend/git/inside_git.h"
#include "pawl/adapter/backend/git/session_record.h"
#include "pawl/adapter/backend/sandbox/own_directory.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/adapter/backend/sandbox/taken_names.h"
#include "pawl/backend.h"

namespace pawl::git {

class SessionGit {
 public:
  // Each repository gets a git directory of the session's own; where that cannot be, its own one is
  // read-only. An Error: a .git cannot be held at all.
  static Result<std::unique_ptr<SessionGit>> open(const ExecutionContext& context);

  std::vector<sandbox::PlanMount> mounts() const;
  // What must be read-only beneath them, and stay where it is: each .git above all.
  std::vector<std::string> protected_places() const;
  // Directories of tools' own beside the roots.
  std::vector<std::string> places() const;

  // Between calls. Sentences for whoever made the call; none: nothing to say.
  std::vector<std::string> settle(const RunInside& run);
  // Whether a tool has made a .git where there was none.
  bool has_made() const;
  // Asked when nothing of the session runs. Repositories are kept and get a place like the others,
  // so that mounts() is another; anything else that is called .git is taken away.
  std::vector<std::string> take_made();
  // A command has left a git directory that git does not work on. repair() puts it aside, when
  // nothing of the session runs, and makes another, so that mounts() is another.
  bool is_damaged() const;
  std::vector<std::string> repair();
  // After the last settle(), when nothing of the session runs any more.
  void finish();

 private:
  explicit SessionGit(const ExecutionContext& context);
  Status add(const std::string& work_tree);
  Result<HeldRepository> hold(const Repository& repository);
  struct Made {
    std::vector<std::string> work_trees;
    std::vector<std::string> bare;
    bool complete = true;
  };
  void add_read_only(const Repository& repository);
  void add_bare(const std::string& path);
  Status protect_programs(const std::string& work_tree);
  Status write_identity();
  Status keep_record() const;
  bool is_known(const std::string& work_tree) const;
  bool is_own_work_tree(const std::string& work_tree) const;
  Made find_made() const;
  bool is_hidden(const Made& made) const;
  std::string take(const std::string& work_tree);
  std::string take_bare(const std::string& path);

  std::vector<std::string> roots_;
  std::string git_directory_;
  backend::TakenNames taken_;
  sandbox::OwnDirectory own_directory_;  // of a host without a data directory
  Owner owner_;                          // of what tools make
  GuardedPaths guarded_;                 // what no commit may change
  std::unique_ptr<HostGit> git_;         // null: there is none
  std::string settings_;                 // a file with the operator's harmless ones; may be empty
  KeptRecord record_;
  std::vector<HeldRepository> held_;
  std::vector<std::string> read_only_;  // work trees
  std::vector<std::string> read_only_places_;
  std::vector<std::string> bare_;      // directories that were repositories before the session
  std::vector<std::string> programs_;  // of the work trees, which the operator's git runs
  FindBounds made_bounds_;
  std::vector<std::string> except_;  // directories of Pawl's own
  bool has_warned_ = false;
  std::vector<std::string> to_say_;
};

}  // namespace pawl::git
