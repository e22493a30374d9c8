#include "pawl/adapter/backend/git/git_doctor.h"

#include <fmt/format.h>

#include "pawl/adapter/backend/git/left_repositories.h"
#include "pawl/adapter/backend/git/private_directory.h"

namespace pawl {

using Grade = Finding::Grade;

std::vector<Finding> examine_git(const std::string& directory) {
  std::vector<Finding> findings;
  const auto git = git::HostGit::find();
  git::remove_left_locks(directory + "/git");
  for (const std::string& sentence : git::take_left_repositories(
           git ? &*git : nullptr, directory + "/git", {directory + "/taken", "doctor"})) {
    findings.push_back({Grade::warning, "git", sentence, "look at it before it is used"});
  }
  for (const git::LeftDirectory& left : git::left_directories(directory + "/git")) {
    findings.push_back(
        {Grade::warning, "git",
         fmt::format("a session that is over has left commits or a merge of {} in {}",
                     left.work_tree, left.slot),
         "start a run there: it publishes them, or says what is in the way"});
  }
  return findings;
}

}  // namespace pawl
