#include "pawl/adapter/backend/git/made_repository.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "pawl/adapter/backend/git/config_filter.h"
#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/adapter/backend/git/private_directory.h"
#include "pawl/adapter/backend/git/ref_names.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"

namespace pawl::git {
namespace {

constexpr std::size_t kMadeConfigBytesMax = std::size_t{256} << 10U;
constexpr std::string_view kFreshConfig =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = true\n";

Error failed(const std::string& path) {
  return {ErrorCode::unavailable, path + ": " + describe_errno(errno)};
}

std::string branch_of(const std::string& path) {
  constexpr std::string_view kSymbolic = "ref: ";
  const auto text = read_plain_file(path + "/HEAD", 4096);
  if (!text || !text->starts_with(kSymbolic)) return "refs/heads/main";
  const std::string name = text->substr(kSymbolic.size(), text->find('\n') - kSymbolic.size());
  return is_ref_name(name) && name.starts_with("refs/heads/") ? name : "refs/heads/main";
}

// Nobody changes it any more, but it may be anything.
std::string settings_of(const HostGit& git, const std::string& path) {
  if (!read_plain_file(path + "/config", kMadeConfigBytesMax)) return {};
  const auto listed = git.settings_in(path + "/config");
  return listed ? config_text(harmless_settings(*listed)) : std::string();
}

Status make_fresh(const std::string& work_tree, const std::string& head, const std::string& config,
                  const Owner& owner) {
  const Descriptor at(::open(work_tree.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!at) return failed(work_tree);
  PAWL_TRY(const Descriptor made, make_beneath(at.number(), ".git", owner));
  for (const char* name :
       {"objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"}) {
    PAWL_TRY(const Descriptor part, make_beneath(made.number(), name, owner));
  }
  PAWL_CHECK(replace_beneath(made.number(), "config", std::string(kFreshConfig) + config, owner));
  return replace_beneath(made.number(), "HEAD", "ref: " + head + "\n", owner);
}

}  // namespace

bool is_made_repository(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         ::lstat((path + "/HEAD").c_str(), &status) == 0 &&
         ::lstat((path + "/objects").c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Status take_made_repository(const HostGit& git, const std::string& work_tree,
                            const std::string& git_directory) {
  Repository made;
  made.work_tree = work_tree;
  made.directory = made.common = work_tree + "/.git";
  struct stat status{};
  if (::lstat(made.directory.c_str(), &status) != 0) return failed(made.directory);
  const std::string head = branch_of(made.directory);
  const std::string config = settings_of(git, made.directory);
  PAWL_CHECK(PrivateDirectory::plant(git_directory, made, head));
  return make_fresh(work_tree, head, config, {status.st_uid, status.st_gid});
}

}  // namespace pawl::git
