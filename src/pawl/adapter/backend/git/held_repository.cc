#include "pawl/adapter/backend/git/held_repository.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "pawl/adapter/backend/git/file_marks.h"
#include "pawl/adapter/backend/git/index_changes.h"
#include "pawl/adapter/backend/git/ref_names.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

using Access = sandbox::PlanMount::Access;

constexpr std::uint64_t kSmallFileBytesMax = 1ULL << 20U;
constexpr std::size_t kEmptyLinksMax = 1024;

const std::vector<std::string>& heads_of_marks() {
  static const std::vector<std::string> names = {"HEAD",         "index",
                                                 "MERGE_HEAD",   "rebase-merge",
                                                 "rebase-apply", "CHERRY_PICK_HEAD",
                                                 "REVERT_HEAD",  "sequencer",
                                                 "config",       "config.worktree",
                                                 "commondir"};
  return names;
}
const std::vector<std::string>& refs_of_marks() {
  static const std::vector<std::string> names = {
      "packed-refs", "refs", "config", "info/exclude", "info/attributes", "logs/refs/stash"};
  return names;
}

// Without a file: empty.
std::string text_of(const std::string& path) {
  auto text = read_plain_file(path, kSmallFileBytesMax);
  return text ? *std::move(text) : std::string();
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

Status HeldRepository::write_settings() {
  PAWL_CHECK(settings_.write(repository_, place_));
  const Descriptor slot(::open(place_.slot().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return replace_beneath(slot.number(), "gitfile", "gitdir: " + directory_inside() + "\n",
                         place_.owner());
}

// Nothing has been in it yet.
Status HeldRepository::fill(const GitState& host) {
  std::string packed = "# pack-refs with: sorted \n";
  for (const auto& [name, object] : host.refs) packed += object + " " + name + "\n";
  PAWL_CHECK(place_.write("packed-refs", packed));
  const bool detached = is_object_id(host.head);
  PAWL_CHECK(place_.write("HEAD", (detached ? "" : "ref: ") + host.head + "\n"));
  const auto time = index_time(settings_, repository_);
  if (const auto index = read_plain_file(repository_.directory + "/index", kIndexBytesMax)) {
    PAWL_CHECK(place_.write("index", *index));
    if (time) set_time(place_.number(), "index", *time);
  }
  if (const std::string log = text_of(repository_.common + "/logs/refs/stash"); !log.empty()) {
    PAWL_CHECK(place_.write("logs/refs/stash", log));
    agreement_.stash = stashes_in(log);
  }
  agreement_.agreed = {host.refs, host.head, digest_of_index(host.index)};
  return place_.keep(agreement_.agreed);
}

Status HeldRepository::begin() {
  PAWL_CHECK(write_settings());
  PAWL_TRY(const GitState host, Publisher(*git_, repository_, place_.slot_number()).state());
  if (host.head.empty()) return Error{ErrorCode::unavailable, "its HEAD cannot be read"};
  for (const std::string& path : gitlinks_in(host.index)) {
    const fs::path place = fs::path(repository_.work_tree) / path;
    std::error_code none;
    const bool empty = fs::is_directory(fs::symlink_status(place, none)) &&
                       !fs::exists(fs::symlink_status(place / ".git", none));
    if (empty) links_.push_back(place.string());
    if (links_.size() > kEmptyLinksMax) {
      return Error{ErrorCode::limit_exceeded,
                   "it has more than " + std::to_string(kEmptyLinksMax) + " empty submodules"};
    }
  }
  if (!place_.is_new()) {
    PAWL_TRY(agreement_.agreed, place_.agreed());
    doer_ = Doer::killed_session;
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

std::vector<std::string> HeldRepository::settle(const RunInside& run, const MayLink& may_link,
                                                const GuardedPaths& guarded) {
  settings_.settle(repository_, place_);
  const Marks before = look();
  const Publisher publisher(*git_, repository_, place_.slot_number());
  const InsideGit inside(run, repository_.work_tree, directory_inside());
  const GuardedLook look_at_names(*git_, repository_, guarded);
  const Sides sides{repository_, place_,   settings_,     publisher,
                    inside,      may_link, look_at_names, doer_};
  Settling::Outcome outcome = Settling(sides, agreement_).perform();
  if (outcome.was_overtaken) {  // by another session, say: the new look names what it did
    const bool changed = outcome.has_changed;
    outcome = Settling(sides, agreement_).perform();
    outcome.has_changed = outcome.has_changed || changed;
  }
  is_settled_ = outcome.has_host_all;
  is_damaged_ = outcome.is_damaged;
  if (!is_damaged_) doer_ = Doer::this_session;
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

Result<std::string> HeldRepository::set_aside(const backend::TakenNames& store) {
  return place_.set_aside(store);
}

void HeldRepository::finish() {
  struct stat status{};
  const bool more = ::fstatat(place_.number(), "worktrees", &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_settled_ && !more && !is_under_way(place_.number())) place_.remove();
}

}  // namespace pawl::git
