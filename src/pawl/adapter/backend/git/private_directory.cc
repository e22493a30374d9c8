#include "pawl/adapter/backend/git/private_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "pawl/adapter/backend/git/noted_lock.h"
#include "pawl/adapter/backend/sandbox/remove_directory.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/sealed_text.h"
#include "pawl/ids.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameDigits = 32;
constexpr std::size_t kLeftMax = 1000;
constexpr int kLookFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Error cannot(const std::string& path) {
  return {ErrorCode::unavailable, path + ": " + describe_errno(errno)};
}

bool is_same(const std::string& path, const Descriptor& held) {
  struct stat named{};
  struct stat own{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(held.number(), &own) == 0 &&
         named.st_ino == own.st_ino && named.st_dev == own.st_dev;
}

// Nothing: somebody has it, or it went while it was looked at.
Descriptor lock_slot(const std::string& slot) {
  Descriptor held(::open(slot.c_str(), kLookFlags));
  if (!held || ::flock(held.number(), LOCK_EX | LOCK_NB) != 0) return Descriptor();
  return is_same(slot, held) ? std::move(held) : Descriptor();
}

Status make_own(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return ok();
  return cannot(path);
}

Status write_agreed(int slot, const Agreed& agreed) {
  return replace_beneath(slot, "agreed", sealed(agreed_text(agreed)), {});
}

}  // namespace

std::string name_of(const Repository& repository) {
  return to_hex(sha256(repository.work_tree + '\0' + repository.directory)).substr(0, kNameDigits);
}

Status move_directory(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return ok();
  if (errno != EXDEV) return cannot(from);
  std::error_code fault;
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, fault);
  if (fault) return Error{ErrorCode::unavailable, from + ": " + fault.message()};
  sandbox::remove_directory(from);
  return ok();
}

Status PrivateDirectory::plant(const std::string& git_directory, const Repository& repository,
                               const std::string& head) {
  const std::string place = git_directory + "/" + name_of(repository);
  PAWL_CHECK(make_own(git_directory));
  PAWL_CHECK(make_own(place));
  for (int i = 1; i <= kSessionsOfRepositoryMax; ++i) {
    const std::string slot = place + "/" + std::to_string(i);
    PAWL_CHECK(make_own(slot));
    const Descriptor held = lock_slot(slot);
    if (!held || read_plain_beneath(held.number(), "agreed", kStateBytesMax)) continue;
    sandbox::remove_directory(slot + "/private");
    PAWL_CHECK(move_directory(repository.directory, slot + "/private"));
    for (const char* name : {"commondir", "config.worktree", "gitdir"}) {
      ::unlink((slot + "/private/" + name).c_str());
    }
    return write_agreed(held.number(), {{}, head, digest_of_index({})});
  }
  return Error{ErrorCode::limit_exceeded, "too many sessions use " + repository.work_tree};
}

Result<PrivateDirectory> PrivateDirectory::take(const std::string& git_directory,
                                                const Repository& repository, const Owner& owner) {
  PAWL_CHECK(make_own(git_directory));
  const std::string place = git_directory + "/" + name_of(repository);
  PAWL_CHECK(make_own(place));
  PrivateDirectory taken;
  taken.owner_ = owner;
  for (int i = 1; i <= kSessionsOfRepositoryMax; ++i) {
    const std::string slot = place + "/" + std::to_string(i);
    PAWL_CHECK(make_own(slot));
    taken.lock_ = lock_slot(slot);
    if (!taken.lock_) continue;
    taken.slot_ = slot;
    // One that a tool has made unusable stays as it is: `pawl doctor` names it.
    if (!taken.lay_out(repository)) continue;
    return taken;
  }
  return Error{ErrorCode::limit_exceeded, "too many sessions use " + repository.work_tree};
}

Status PrivateDirectory::lay_out(const Repository& repository) {
  is_new_ = !read_plain_beneath(lock_.number(), "agreed", kStateBytesMax);
  // One that was begun and never agreed on has nothing of anybody's.
  if (is_new_) sandbox::remove_directory(path());
  PAWL_TRY(private_, make_beneath(lock_.number(), "private", owner_));
  PAWL_CHECK(replace_beneath(lock_.number(), "repository", sealed(repository.work_tree), {}));
  for (const char* name : {"objects", "objects/info", "objects/pack", "refs", "refs/heads",
                           "refs/tags", "info", "logs", "logs/refs", "hooks"}) {
    PAWL_TRY(const Descriptor made, make_beneath(number(), name, owner_));
  }
  return ok();
}

Result<Agreed> PrivateDirectory::agreed() const {
  PAWL_TRY(const std::string text, read_plain_beneath(lock_.number(), "agreed", kStateBytesMax));
  const auto whole = unsealed(text);
  if (!whole) return Error{ErrorCode::corrupt, slot_ + "/agreed is damaged"};
  return parse_agreed(*whole);
}

Status PrivateDirectory::keep(const Agreed& agreed) const {
  return write_agreed(lock_.number(), agreed);
}

Status PrivateDirectory::write(const std::string& name, std::string_view text) const {
  return replace_beneath(number(), name, text, owner_);
}

Result<std::string> PrivateDirectory::set_aside(const backend::TakenNames& store) {
  auto where = store.take(lock_, "private");
  if (where) ::unlinkat(lock_.number(), "agreed", 0);
  return where;
}

void PrivateDirectory::remove() {
  if (slot_.empty()) return;
  sandbox::remove_directory(slot_);
  ::rmdir(fs::path(slot_).parent_path().c_str());  // stays if another session is in it
  slot_.clear();
}

void remove_left_locks(const std::string& git_directory) {
  std::size_t slots = 0;
  std::error_code none;
  for (const auto& place : fs::directory_iterator(git_directory, none)) {
    std::error_code fault;
    for (const auto& slot : fs::directory_iterator(place.path(), fault)) {
      if (++slots > kLeftMax) return;
      if (const Descriptor held = lock_slot(slot.path().string())) {
        remove_noted_lock(held.number());
      }
    }
  }
}

std::vector<LeftDirectory> left_directories(const std::string& git_directory) {
  std::vector<LeftDirectory> left;
  std::error_code none;
  for (const auto& place : fs::directory_iterator(git_directory, none)) {
    std::error_code fault;
    for (const auto& slot : fs::directory_iterator(place.path(), fault)) {
      const std::string path = slot.path().string();
      if (left.size() >= kLeftMax || !lock_slot(path)) continue;
      const auto text = read_plain_file(path + "/repository", kGitFileBytesMax);
      if (!text) continue;
      const auto whole = unsealed(*text);
      left.push_back({path, whole ? std::string(*whole) : "a repository whose name is damaged"});
    }
  }
  return left;
}

}  // namespace pawl::git
