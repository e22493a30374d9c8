#include "pawl/adapter/backend/files/file_changes.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>

#include "pawl/adapter/backend/files/shown_name.h"

namespace pawl::backend {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kProgramMode = 0755;
constexpr mode_t kDirectoryMode = 0755;
constexpr mode_t kKeptModeBits = 0777;  // setuid, setgid and sticky are dropped
constexpr int kNamesTriedMax = 16;

Error changed_meanwhile(const std::string& path) {
  return {ErrorCode::conflict,
          shown_name(path) + " was changed by somebody else meanwhile; view it again"};
}

std::string temporary_name() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) random = 0;
  std::array<char, 24> text{};
  ::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(random));
  return std::string(kTemporaryPrefix) + text.data();
}

Status write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(errno, shown_name(path));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file) != 0) return system_error(errno, shown_name(path));
  return ok();
}

// A host that is root works for whoever owns the directory: what it makes must be theirs to change.
// One that has taken on somebody's rights for the moment (setfsuid) may not give files away, and
// need not: they are that somebody's.
Status give_to_owner(int file, uid_t user, gid_t group, const std::string& path) {
  if (::geteuid() != 0 || ::fchown(file, user, group) == 0 || errno == EPERM) return ok();
  return system_error(errno, shown_name(path));
}

std::string parent_of(const std::string& relative) {
  const std::size_t slash = relative.rfind('/');
  return slash == std::string::npos ? "." : relative.substr(0, slash);
}

std::string last_of(const std::string& relative) {
  return relative.substr(relative.rfind('/') + 1);
}

// rename() does not cross mounts, also where the file system is the same.
bool is_same_mount(int left, int right) {
  struct statx one{};
  struct statx other{};
  const auto look = [](int directory, struct statx& found) {
    return ::statx(directory, "", AT_EMPTY_PATH, STATX_MNT_ID, &found) == 0 &&
           (found.stx_mask & STATX_MNT_ID) != 0;
  };
  return left >= 0 && look(left, one) && look(right, other) && one.stx_mnt_id == other.stx_mnt_id &&
         one.stx_dev_major == other.stx_dev_major && one.stx_dev_minor == other.stx_dev_minor;
}

// Beside the target if the scratch directory cannot be used.
Result<std::pair<Descriptor, std::string>> make_temporary(int directory, const std::string& path) {
  for (int attempt = 0; attempt < kNamesTriedMax; ++attempt) {
    std::string name = temporary_name();
    const int file = ::openat(directory, name.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode);
    if (file >= 0) return std::pair{Descriptor(file), std::move(name)};
    if (errno != EEXIST) return system_error(errno, shown_name(path));
  }
  return Error{ErrorCode::unavailable, shown_name(path) + ": no name for a temporary file"};
}

Status set_rights(int file, int directory, const std::optional<struct stat>& like,
                  Executable executable, const std::string& path) {
  struct stat parent{};
  if (::fstat(directory, &parent) != 0) return system_error(errno, shown_name(path));
  const struct stat& owner = like ? *like : parent;
  PAWL_CHECK(give_to_owner(file, owner.st_uid, owner.st_gid, path));
  if (!like && executable == Executable::no) return ok();  // as the umask left it
  const mode_t mode = like ? like->st_mode & kKeptModeBits : kProgramMode;
  if (::fchmod(file, mode) != 0) return system_error(errno, shown_name(path));
  return ok();
}

// By size and time alone: a rename moves the time of the last change, and on an overlay a file that
// is touched for the first time may get another inode.
bool is_old_one(int directory, const std::string& name, const FileStamp& old) {
  struct stat now{};
  if (::fstatat(directory, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const FileStamp stamp = stamp_of(now);
  return S_ISREG(now.st_mode) && stamp.size == old.size && stamp.modified_ns == old.modified_ns;
}

// Swaps two names. Where the file system cannot, the old file gets a second name first.
int exchange(int scratch, const std::string& temporary, int directory, const std::string& name) {
  if (::renameat2(scratch, temporary.c_str(), directory, name.c_str(), RENAME_EXCHANGE) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) return errno;
  const std::string kept = temporary_name();
  if (::linkat(directory, name.c_str(), scratch, kept.c_str(), 0) != 0) return errno;
  if (::renameat(scratch, temporary.c_str(), directory, name.c_str()) != 0 ||
      ::renameat(scratch, kept.c_str(), scratch, temporary.c_str()) != 0) {
    const int number = errno;
    ::unlinkat(scratch, kept.c_str(), 0);
    return number;
  }
  return 0;
}

}  // namespace

FileChanges::~FileChanges() {
  if (!committed_) undo();
}

Result<Descriptor> FileChanges::make_directory(int parent, const std::string& name,
                                               const std::string& path) {
  if (::mkdirat(parent, name.c_str(), kDirectoryMode) == 0) {
    made_.push_back({Descriptor(::fcntl(parent, F_DUPFD_CLOEXEC, 0)), name});
  } else if (errno != EEXIST) {  // somebody else was faster: it is theirs
    return system_error(errno, shown_name(path));
  }
  PAWL_TRY(Descriptor made, open_child(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  struct stat status{};
  if (::fstat(parent, &status) != 0) return system_error(errno, shown_name(path));
  PAWL_CHECK(give_to_owner(made.number(), status.st_uid, status.st_gid, path));
  return made;
}

Result<Descriptor> FileChanges::make_parent(const Place& place) {
  Place here{place.root, ".", {}, place.path};
  PAWL_TRY(Descriptor directory, open_place(here, O_PATH | O_DIRECTORY, Links::refused));
  std::size_t made = 0;
  for (const std::string& part : split_path(parent_of(place.relative))) {
    auto next = open_child(directory.number(), part, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!next && next.error().code == ErrorCode::not_found) {
      if (++made > kDirectoriesMadeMax) {
        return Error{ErrorCode::limit_exceeded, shown_name(place.path) + ": too deep"};
      }
      next = make_directory(directory.number(), part, place.path);
    }
    if (!next) return std::move(next).error();
    directory = *std::move(next);
  }
  // Not O_PATH: it is synced after the rename.
  return open_child(directory.number(), ".", O_RDONLY | O_DIRECTORY);
}

Status FileChanges::stage(const Place& place, Change change, std::string_view bytes,
                          std::optional<struct stat> like, Executable executable) {
  if (changes_.size() >= kChangesMax) {
    return Error{ErrorCode::limit_exceeded,
                 "more than " + std::to_string(kChangesMax) + " files at once"};
  }
  if (place.relative == ".") {
    return Error{ErrorCode::invalid_argument, shown_name(place.path) + " is a directory"};
  }
  change.name = last_of(place.relative);
  change.path = place.path;
  if (change.name.starts_with(kTemporaryPrefix)) {
    return Error{ErrorCode::invalid_argument, shown_name(place.path) + ": a reserved name"};
  }
  PAWL_TRY(change.directory, make_parent(place));
  const int directory = change.directory.number();
  // A host that is root may have somebody else's rights for the moment, who cannot write there: a
  // removal would notice only when it is put in place.
  const bool sure = change.kind != Change::Kind::remove || ::geteuid() != 0;
  const bool apart = sure && is_same_mount(scratch_, directory);
  change.scratch = apart ? scratch_ : directory;
  if (change.kind == Change::Kind::remove) {
    change.temporary = temporary_name();
    changes_.push_back(std::move(change));
    return ok();
  }
  auto made = make_temporary(change.scratch, place.path);
  if (!made && apart) {
    change.scratch = directory;
    made = make_temporary(directory, place.path);
  }
  PAWL_TRY(auto temporary, std::move(made));
  change.temporary = std::move(temporary.second);
  changes_.push_back(std::move(change));  // from here on undo() removes it
  const int file = temporary.first.number();
  PAWL_CHECK(set_rights(file, directory, like, executable, place.path));
  return write_all(file, bytes, place.path);
}

Status FileChanges::add(const Place& place, std::string_view bytes, Executable executable) {
  Change change;
  change.kind = Change::Kind::add;
  return stage(place, std::move(change), bytes, std::nullopt, executable);
}

Status FileChanges::replace(const Place& place, std::string_view bytes, const struct stat& old) {
  PAWL_CHECK(check_replaceable(old, place.path));
  Change change;
  change.kind = Change::Kind::replace;
  change.old = stamp_of(old);
  return stage(place, std::move(change), bytes, old, Executable::no);
}

Status FileChanges::remove(const Place& place, const struct stat& old) {
  PAWL_CHECK(check_replaceable(old, place.path));
  Change change;
  change.kind = Change::Kind::remove;
  change.old = stamp_of(old);
  return stage(place, std::move(change), {}, std::nullopt, Executable::no);
}

Status FileChanges::put_in_place(Change& change) {
  const int directory = change.directory.number();
  const char* const name = change.name.c_str();
  const char* const temporary = change.temporary.c_str();
  int number = 0;
  if (change.kind == Change::Kind::replace) {
    number = exchange(change.scratch, change.temporary, directory, change.name);
  } else {
    const bool adds = change.kind == Change::Kind::add;
    const int result =
        adds ? ::renameat2(change.scratch, temporary, directory, name, RENAME_NOREPLACE)
             : ::renameat2(directory, name, change.scratch, temporary, RENAME_NOREPLACE);
    number = result == 0 ? 0 : errno;
  }
  if (number == EEXIST) {
    return Error{ErrorCode::conflict, shown_name(change.path) + " exists already"};
  }
  if (number == ENOENT) return changed_meanwhile(change.path);
  if (number != 0) return system_error(number, shown_name(change.path));
  change.in_place = true;
  if (change.kind != Change::Kind::add &&
      !is_old_one(change.scratch, change.temporary, change.old)) {
    return changed_meanwhile(change.path);
  }
  return ok();
}

void FileChanges::take_back(Change& change) {
  const int directory = change.directory.number();
  const char* const name = change.name.c_str();
  const char* const temporary = change.temporary.c_str();
  if (change.in_place) {
    switch (change.kind) {
      case Change::Kind::replace:
        static_cast<void>(exchange(change.scratch, change.temporary, directory, change.name));
        break;
      case Change::Kind::remove:
        ::renameat2(change.scratch, temporary, directory, name, RENAME_NOREPLACE);
        return;  // the temporary name held the only copy
      case Change::Kind::add:
        ::unlinkat(directory, name, 0);
        return;
    }
  }
  if (change.kind != Change::Kind::remove) ::unlinkat(change.scratch, temporary, 0);
}

void FileChanges::undo() {
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) take_back(*change);
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    ::unlinkat(made->parent.number(), made->name.c_str(), AT_REMOVEDIR);  // stays if it is in use
  }
  changes_.clear();
  made_.clear();
}

Status FileChanges::commit() {
  for (Change& change : changes_) {
    if (Status status = put_in_place(change); !status) {
      undo();
      return status;
    }
  }
  committed_ = true;
  for (Change& change : changes_) {
    if (change.kind != Change::Kind::add) {
      ::unlinkat(change.scratch, change.temporary.c_str(), 0);
    }
  }
  // They are in place; a directory that cannot be synced (some file systems) takes nothing back.
  for (Change& change : changes_) ::fsync(change.directory.number());
  return ok();
}

}  // namespace pawl::backend
