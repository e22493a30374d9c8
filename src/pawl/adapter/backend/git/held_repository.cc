#include "pawl/adapter/backend/git/held_repository.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "pawl/adapter/backend/git/config_filter.h"
#include "pawl/adapter/backend/git/file_marks.h"
#include "pawl/adapter/backend/git/index_changes.h"
#include "pawl/adapter/backend/git/ref_names.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

using Access = sandbox::PlanMount::Access;

constexpr std::uint64_t kSmallFileBytesMax = 1ULL << 20U;
constexpr std::size_t kEmptyLinksMax = 32;
constexpr std::string_view kConfigHead =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[gc]\n\tauto = 0\n"
    "[maintenance]\n\tauto = false\n";

const std::vector<std::string>& heads_of_marks() {
  static const std::vector<std::string> names = {"HEAD",         "index",        "MERGE_HEAD",
                                                 "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD",
                                                 "REVERT_HEAD",  "sequencer",    "config"};
  return names;
}
const std::vector<std::string>& refs_of_marks() {
  static const std::vector<std::string> names = {"packed-refs", "refs"};
  return names;
}

// Without a file: empty.
std::string text_of(const std::string& path) {
  auto text = read_plain_file(path, kSmallFileBytesMax);
  return text ? *std::move(text) : std::string();
}

std::string home_path(std::string path) {
  const char* home = std::getenv("HOME");  // NOLINT
  if (path.starts_with("~/") && home != nullptr) return home + path.substr(1);
  return path;
}

// What the operator ignores everywhere.
std::string ignored_everywhere(std::string_view listed) {
  std::string file;
  const char* own = std::getenv("XDG_CONFIG_HOME");  // NOLINT
  file = own != nullptr && *own != '\0' ? std::string(own) + "/git/ignore"
                                        : home_path("~/.config/git/ignore");
  constexpr std::string_view kKey = "core.excludesfile\n";
  for (std::size_t at = listed.find(kKey); at != std::string_view::npos;
       at = listed.find(kKey, at + 1)) {
    if (at != 0 && listed[at - 1] != '\0') continue;
    const std::string_view rest = listed.substr(at + kKey.size());
    file = home_path(std::string(rest.substr(0, rest.find('\0'))));
  }
  std::error_code none;
  const fs::path real = fs::canonical(file, none);
  return none ? std::string() : text_of(real.string());
}

Digest marks_beneath(const std::string& path, const std::vector<std::string>& names) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return marks_of(directory.number(), names);
}

}  // namespace

std::string HeldRepository::directory_inside() const {
  if (repository_.form == Repository::Form::directory) return repository_.directory;
  return std::string(sandbox::kMountsInside) + "/git/" + name_of(repository_) + "/directory";
}

std::vector<sandbox::PlanMount> HeldRepository::mounts() const {
  const std::string beside =
      std::string(sandbox::kMountsInside) + "/git/" + name_of(repository_) + "/objects";
  std::vector<sandbox::PlanMount> mounts;
  mounts.push_back({repository_.common + "/objects", beside, Access::read});
  for (const std::string& path : repository_.alternates)
    mounts.push_back({path, path, Access::read});
  mounts.push_back({place_.path(), directory_inside(), Access::write});
  if (repository_.form == Repository::Form::file) {
    mounts.push_back({place_.git_file(), repository_.work_tree + "/.git", Access::read});
  }
  std::error_code none;
  const std::string hooks = repository_.common + "/hooks";
  if (fs::is_directory(fs::symlink_status(hooks, none))) {
    mounts.push_back({hooks, directory_inside() + "/hooks", Access::read});
  }
  return mounts;
}

Status HeldRepository::write_settings() const {
  PAWL_TRY(const std::string listed, git_->settings(repository_.work_tree));
  PAWL_CHECK(
      place_.write("config", std::string(kConfigHead) + config_text(harmless_settings(listed))));
  PAWL_CHECK(place_.write("info/exclude", text_of(repository_.common + "/info/exclude") + "\n" +
                                              ignored_everywhere(listed)));
  PAWL_CHECK(place_.write("info/attributes", text_of(repository_.common + "/info/attributes")));
  std::string alternates =
      std::string(sandbox::kMountsInside) + "/git/" + name_of(repository_) + "/objects\n";
  for (const std::string& path : repository_.alternates) alternates += path + "\n";
  PAWL_CHECK(place_.write("objects/info/alternates", alternates));
  if (std::string shallow = text_of(repository_.common + "/shallow"); !shallow.empty()) {
    PAWL_CHECK(place_.write("shallow", shallow));
  }
  const Descriptor slot(::open(place_.slot().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return replace_beneath(slot.number(), "gitfile", "gitdir: " + directory_inside() + "\n",
                         place_.owner());
}

// What a tool has set stays for its next call as far as it is harmless: a call that runs without a
// question relies on that.
Status HeldRepository::reduce_settings() const {
  PAWL_TRY(const std::string text,
           read_plain_beneath(place_.number(), "config", kSmallFileBytesMax));
  const Descriptor slot(::open(place_.slot().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  PAWL_CHECK(replace_beneath(slot.number(), "config", text, {}));
  PAWL_TRY(const std::string listed, git_->settings_in(place_.slot() + "/config"));
  return place_.write("config", std::string(kConfigHead) + config_text(harmless_settings(listed)));
}

// Nothing has been in it yet.
Status HeldRepository::fill(const GitState& host) {
  std::string packed = "# pack-refs with: sorted \n";
  for (const auto& [name, object] : host.refs) packed += object + " " + name + "\n";
  PAWL_CHECK(place_.write("packed-refs", packed));
  const bool detached = is_object_id(host.head);
  PAWL_CHECK(place_.write("HEAD", (detached ? "" : "ref: ") + host.head + "\n"));
  if (const auto index = read_plain_file(repository_.directory + "/index", kIndexBytesMax)) {
    PAWL_CHECK(place_.write("index", *index));
  }
  if (const std::string log = text_of(repository_.common + "/logs/refs/stash"); !log.empty()) {
    PAWL_CHECK(place_.write("logs/refs/stash", log));
  }
  agreement_.agreed = {host.refs, host.head, digest_of_index(host.index)};
  return place_.keep(agreement_.agreed);
}

Status HeldRepository::begin() {
  PAWL_CHECK(write_settings());
  config_marks_ = marks_of(place_.number(), {"config", "config.worktree"});
  PAWL_TRY(const GitState host, Publisher(*git_, repository_).state());
  if (host.head.empty()) return Error{ErrorCode::unavailable, "its HEAD cannot be read"};
  for (const std::string& path : gitlinks_in(host.index)) {
    const fs::path place = fs::path(repository_.work_tree) / path;
    std::error_code none;
    const bool empty = fs::is_directory(fs::symlink_status(place, none)) &&
                       !fs::exists(fs::symlink_status(place / ".git", none));
    if (empty && links_.size() < kEmptyLinksMax) links_.push_back(place.string());
  }
  if (!place_.is_new()) {
    PAWL_TRY(agreement_.agreed, place_.agreed());
    return ok();  // Both sides are looked at before the first call.
  }
  PAWL_CHECK(fill(host));
  seen_ = look();
  is_settled_ = true;
  return ok();
}

Result<HeldRepository> HeldRepository::open(const HostGit& git, Repository repository,
                                            const std::string& git_directory, const Owner& owner) {
  PAWL_TRY(PrivateDirectory place, PrivateDirectory::take(git_directory, repository, owner));
  HeldRepository held(git, std::move(repository), std::move(place));
  if (Status begun = held.begin(); !begun) {
    if (held.place_.is_new()) held.place_.remove();
    return begun.error();
  }
  return held;
}

HeldRepository::Marks HeldRepository::look() const {
  const auto both = [](const Digest& heads, const Digest& refs) {
    return Sha256().add(heads.view()).add(refs.view()).finish();
  };
  return {both(marks_beneath(repository_.directory, heads_of_marks()),
               marks_beneath(repository_.common, refs_of_marks())),
          both(marks_of(place_.number(), heads_of_marks()),
               marks_of(place_.number(), refs_of_marks()))};
}

bool HeldRepository::is_touched() const {
  return !seen_ || *seen_ != look();
}

std::vector<std::string> HeldRepository::settle(const RunInside& run, const MayLink& may_link) {
  if (!config_marks_ ||
      *config_marks_ != marks_of(place_.number(), {"config", "config.worktree"})) {
    ::unlinkat(place_.number(), "config.worktree", 0);
    if (!reduce_settings()) static_cast<void>(write_settings());
    config_marks_ = marks_of(place_.number(), {"config", "config.worktree"});
  }
  const Marks before = look();
  const Publisher publisher(*git_, repository_);
  const InsideGit inside(run, repository_.work_tree, directory_inside());
  Settling settling({repository_, place_, publisher, inside, may_link}, agreement_);
  const Settling::Outcome outcome = settling.perform();
  is_settled_ = outcome.has_host_all;
  seen_.reset();
  // Whoever has changed something while it was looked at is seen the next time.
  if (!outcome.has_changed) seen_ = before;
  if (outcome.has_changed) {
    if (const Status kept = place_.keep(agreement_.agreed); !kept) is_settled_ = false;
  }
  if (outcome.said == said_) return {};
  said_ = outcome.said;
  return said_;
}

void HeldRepository::finish() {
  struct stat status{};
  const bool more = ::fstatat(place_.number(), "worktrees", &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_settled_ && !more && !is_under_way(place_.number())) place_.remove();
}

}  // namespace pawl::git
