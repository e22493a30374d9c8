#include "pawl/adapter/backend/git/left_repositories.h"

#include <algorithm>
#include <filesystem>

#include "pawl/adapter/backend/git/find_repositories.h"
#include "pawl/adapter/backend/git/made_repository.h"
#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/adapter/backend/git/session_record.h"

namespace pawl::git {
namespace {

class Leavings {
 public:
  Leavings(const HostGit* git, const std::string& git_directory, const backend::TakenNames& store)
      : git_(git), git_directory_(git_directory), store_(store) {}

  void take(const SessionRecord& record) {
    const FoundRepositories found =
        find_repositories(record.roots, kFindAll, directories_of_pawl(git_directory_, store_));
    for (const std::string& work_tree : found.work_trees) {
      const auto is_known = [&](const std::string& known) {
        return known == work_tree || is_work_tree_of(work_tree, known + "/.git");
      };
      if (std::ranges::none_of(record.work_trees, is_known)) take_work_tree(work_tree);
    }
    for (const std::string& path : found.bare) {
      if (std::ranges::find(record.work_trees, path) == record.work_trees.end()) {
        take_away(path + "/HEAD");
      }
    }
  }

  std::vector<std::string> said() { return std::move(said_); }

 private:
  void take_work_tree(const std::string& work_tree) {
    const std::string path = work_tree + "/.git";
    if (git_ == nullptr || !is_made_repository(path)) return take_away(path);
    const Status taken = take_made_repository(*git_, work_tree, git_directory_);
    if (!taken) return take_away(path);
    said_.push_back(path +
                    " was made by a session that was killed: it was kept without its configuration "
                    "and hooks");
  }

  void take_away(const std::string& path) {
    const auto where = take_git(path, store_);
    said_.push_back(path + " was left by a session that was killed, and " +
                    (where ? "was taken away, to " + *where
                           : "could not be taken away, do not use it: " + where.error().message));
  }

  const HostGit* git_;
  const std::string& git_directory_;
  const backend::TakenNames& store_;
  std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> directories_of_pawl(const std::string& git_directory,
                                             const backend::TakenNames& store) {
  std::vector<std::string> directories;
  for (const std::string& path : {git_directory, store.directory()}) {
    std::error_code none;
    directories.push_back(path);
    directories.push_back(std::filesystem::weakly_canonical(path, none).string());
  }
  return directories;
}

bool is_work_tree_of(const std::string& work_tree, const std::string& directory) {
  const auto text = read_plain_file(work_tree + "/.git", kGitFileBytesMax);
  const std::string beneath = "gitdir: " + directory + "/worktrees/";
  if (!text || !text->starts_with(beneath) || text->back() != '\n') return false;
  const std::string name = text->substr(beneath.size(), text->size() - beneath.size() - 1);
  return !name.empty() && name != ".." && name.find_first_of("/\n") == std::string::npos;
}

// A directory without HEAD is no repository: that is left where the whole of it is too large.
Result<std::string> take_git(const std::string& path, const backend::TakenNames& store) {
  auto taken = store.take_path(path);
  if (taken || !is_made_repository(path)) return taken;
  return store.take_path(path + "/HEAD");
}

std::vector<std::string> take_left_repositories(const HostGit* git,
                                                const std::string& git_directory,
                                                const backend::TakenNames& store) {
  Leavings leavings(git, git_directory, store);
  const LeftRecords left = take_left_records(git_directory);
  for (const SessionRecord& record : left.records) leavings.take(record);
  std::vector<std::string> said = leavings.said();
  for (const std::string& path : left.damaged) {
    said.push_back(path +
                   ", the note of a session that was killed, was damaged: look yourself for "
                   "repositories that its commands made");
  }
  return said;
}

}  // namespace pawl::git
