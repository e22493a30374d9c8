#include "pawl/adapter/backend/git/repository.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/path_text.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGitdir = "gitdir: ";
constexpr std::size_t kConfigBytesMax = std::size_t{256} << 10U;

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

std::string real_path(const fs::path& path) {
  std::error_code none;
  const fs::path real = fs::canonical(path, none);
  return none ? std::string() : real.string();
}

bool is_there(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

std::uint64_t size_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

Error not_held(const std::string& path, const std::string& why) {
  return {ErrorCode::invalid_argument,
          path + " " + why +
              " and cannot be held (make it a directory, or a file `gitdir: …` that leads to one; "
              "or choose a write root without it)"};
}

// A repository that git's own commands have made has its directory in a .git.
bool is_of_somebody_else(const std::string& directory, const std::vector<std::string>& roots) {
  const bool within = std::ranges::any_of(
      roots, [&](const std::string& root) { return is_within(directory, root); });
  return within && (directory + "/").find("/.git/") == std::string::npos;
}

// Settings that are looked for as words: whoever has them in another way only loses the copy.
std::string obstacle_in_config(const std::string& path) {
  const auto text = read_plain_file(path, kConfigBytesMax);
  if (!text) return is_there(path) ? "its config cannot be read" : "";
  std::string small = *text;
  std::ranges::transform(small, small.begin(),
                         [](unsigned char one) { return static_cast<char>(std::tolower(one)); });
  for (const char* word : {"objectformat", "refstorage", "partialclone", "promisor",
                           "compatobjectformat", "sparsecheckout", "relativeworktrees"}) {
    if (small.find(word) == std::string::npos) continue;
    return std::string("it has the setting ") + word;
  }
  return "";
}

std::string find_alternates(Repository& found) {
  const auto text = read_plain_file(found.common + "/objects/info/alternates", kGitFileBytesMax);
  if (!text) return is_there(found.common + "/objects/info/alternates") ? "its alternates" : "";
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const bool plain = line.front() == '/' && real_path(line) == line;
    if (!plain || found.alternates.size() >= kAlternatesMax) return "its alternates are not plain";
    if (is_there(line + "/info/alternates")) return "its alternates have alternates";
    found.alternates.push_back(std::move(line));
  }
  return "";
}

std::string find_obstacle(Repository& found) {
  struct stat objects{};
  if (::stat((found.common + "/objects").c_str(), &objects) != 0 || !S_ISDIR(objects.st_mode)) {
    return "it has no directory of objects";
  }
  if (!is_there(found.directory + "/HEAD")) return "it has no HEAD";
  if (is_there(found.common + "/reftable")) return "it keeps its refs in another format";
  if (size_of(found.directory + "/index") > kIndexBytesMax) return "its index is too large";
  if (size_of(found.common + "/packed-refs") > kPackedRefsBytesMax) return "it has too many refs";
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(found.directory, none)) {
    if (entry.path().filename().string().starts_with("sharedindex.")) return "its index is split";
  }
  if (std::string why = obstacle_in_config(found.common + "/config"); !why.empty()) return why;
  if (std::string why = obstacle_in_config(found.directory + "/config.worktree"); !why.empty()) {
    return why;
  }
  return find_alternates(found);
}

Status follow_file(Repository& found) {
  const std::string path = found.work_tree + "/.git";
  const auto text = read_plain_file(path, kGitFileBytesMax);
  if (!text || !text->starts_with(kGitdir)) return not_held(path, "says no `gitdir:`");
  const std::string named = first_line(text->substr(kGitdir.size()));
  found.form = Repository::Form::file;
  found.directory = real_path(fs::path(found.work_tree) / named);
  if (found.directory.empty()) found.obstacle = named + " is not there";
  return ok();
}

}  // namespace

bool is_under_way(int directory) {
  constexpr std::array<const char*, 7> kMarks = {"MERGE_HEAD",   "CHERRY_PICK_HEAD", "REVERT_HEAD",
                                                 "rebase-merge", "rebase-apply",     "sequencer",
                                                 "BISECT_LOG"};
  struct stat status{};
  return std::ranges::any_of(kMarks, [&](const char* name) {
    return ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  });
}

Result<Repository> describe_repository(const std::string& work_tree,
                                       const std::vector<std::string>& write_roots) {
  Repository found;
  found.work_tree = work_tree;
  const std::string path = work_tree + "/.git";
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return not_held(path, describe_errno(errno));
  if (S_ISLNK(status.st_mode)) return not_held(path, "is a symbolic link");
  found.user = status.st_uid;
  found.group = status.st_gid;
  if (S_ISDIR(status.st_mode)) {
    found.directory = path;
  } else if (S_ISREG(status.st_mode)) {
    PAWL_CHECK(follow_file(found));
    if (!found.obstacle.empty()) return found;
  } else {
    return not_held(path, "is neither a file nor a directory");
  }
  found.common = found.directory;
  if (const auto text = read_plain_file(found.directory + "/commondir", kGitFileBytesMax)) {
    found.common = real_path(fs::path(found.directory) / first_line(*text));
    if (found.common.empty()) found.obstacle = "its common directory is not there";
    if (found.form == Repository::Form::directory) found.obstacle = "it has a common directory";
  }
  if (!found.obstacle.empty()) return found;
  if (is_of_somebody_else(found.directory, write_roots) ||
      is_of_somebody_else(found.common, write_roots)) {
    found.obstacle = "its directory lies in the work tree and is not called .git";
    return found;
  }
  found.obstacle = find_obstacle(found);
  return found;
}

}  // namespace pawl::git
