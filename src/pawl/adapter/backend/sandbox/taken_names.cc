#include "pawl/adapter/backend/sandbox/taken_names.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <tuple>
#include <utility>

#include "pawl/adapter/backend/sandbox/remove_directory.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/link_free_path.h"
#include "pawl/base/sealed_text.h"
#include "pawl/result.h"

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNotePrefix = "absent-";
constexpr std::string_view kWritingName = "writing";
constexpr mode_t kPrivateDirectory = 0700;

Error failure(const std::string& path) {
  return {ErrorCode::unavailable, path + ": " + describe_errno(errno)};
}

// With its parents. Its last directory must be the user's own, and nobody else's to write.
Status make_private(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none)) {
    fs::create_directories(fs::path(path).parent_path(), none);
    if (::mkdir(path.c_str(), kPrivateDirectory) != 0 && errno != EEXIST) return failure(path);
  }
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return failure(path);
  const bool safe = S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
                    (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (safe) return ok();
  return Error{ErrorCode::unavailable,
               path + " must be a directory of this user alone (chmod 700)"};
}

// A tool may have taken the right to write from a directory of its own, and without it a directory
// cannot be moved either.
void let_write_to(const Descriptor& directory) {
  struct stat status{};
  if (::fstat(directory.number(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(directory.number());
  ::chmod(path.c_str(), (status.st_mode & 07777U) | S_IRWXU);
}

bool rename_away(const Descriptor& parent, const std::string& part, const std::string& target) {
  const auto rename = [&] {
    return ::syscall(SYS_renameat2, parent.number(), part.c_str(), AT_FDCWD, target.c_str(),
                     RENAME_NOREPLACE) == 0;
  };
  if (rename()) return true;
  if (errno != EACCES) return false;
  const Descriptor object(::openat(parent.number(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  let_write_to(parent);
  let_write_to(object);
  return rename();
}

Status check_size(const fs::path& source) {
  std::error_code none;
  std::size_t entries = 0;
  std::uint64_t bytes = fs::is_regular_file(source, none) ? fs::file_size(source, none) : 0;
  if (fs::is_directory(fs::symlink_status(source, none))) {
    for (const auto& entry : fs::recursive_directory_iterator(source, none)) {
      if (entry.is_regular_file(none) && !entry.is_symlink(none)) bytes += entry.file_size(none);
      if (++entries > kTakenEntriesMax || bytes > kTakenBytesMax) break;
    }
  }
  if (!none && entries <= kTakenEntriesMax && bytes <= kTakenBytesMax) return ok();
  return Error{ErrorCode::limit_exceeded, "it is too large to be copied to another file system"};
}

// Where rename() cannot reach. What is neither a file, a directory nor a link has nothing to keep.
Status copy_away(const Descriptor& parent, const std::string& part, const std::string& target) {
  const fs::path source = "/proc/self/fd/" + std::to_string(parent.number()) + "/" + part;
  std::error_code failed;
  const fs::file_type type = fs::symlink_status(source, failed).type();
  if (type == fs::file_type::regular || type == fs::file_type::directory ||
      type == fs::file_type::symlink) {
    PAWL_CHECK(check_size(source));
    fs::copy(source, target, fs::copy_options::recursive | fs::copy_options::copy_symlinks, failed);
    if (failed) return Error{ErrorCode::unavailable, "it could not be copied: " + failed.message()};
  }
  fs::remove_all(source, failed);
  if (failed) return Error{ErrorCode::unavailable, failed.message()};
  return ok();
}

// A note is a list of lines that end with a NUL. An absolute path is an absent one; the others
// begin with a word.
constexpr std::string_view kRootWord = "root ";
constexpr std::string_view kNameWord = "name ";
constexpr std::string_view kKnownWord = "known ";

std::string write_note(const AbsentNames& absent) {
  std::string text;
  const auto add = [&text](std::string_view word, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text += std::string(word) + line + '\0';
  };
  add("", absent.paths);
  add(kRootWord, absent.roots);
  add(kNameWord, absent.names);
  add(kKnownWord, absent.known);
  return text;
}

AbsentNames parse_note(const std::string& text) {
  AbsentNames absent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const auto take = [&line](std::string_view word, std::vector<std::string>& lines) {
      if (line.starts_with(word)) lines.push_back(line.substr(word.size()));
    };
    if (line.starts_with('/')) absent.paths.push_back(line);
    take(kRootWord, absent.roots);
    take(kNameWord, absent.names);
    take(kKnownWord, absent.known);
  }
  return absent;
}

Result<AbsentNames> read_note(const Descriptor& file) {
  std::string text;
  std::string piece(std::size_t{64} << 10U, '\0');
  for (ssize_t count = 1; count > 0 && text.size() <= kAbsentNoteBytesMax;) {
    count = ::read(file.number(), piece.data(), piece.size());
    if (count > 0) text.append(piece, 0, static_cast<std::size_t>(count));
  }
  if (text.size() > kAbsentNoteBytesMax) return Error{ErrorCode::limit_exceeded, "too large"};
  const auto whole = unsealed(text);
  if (!whole) return Error{ErrorCode::corrupt, "damaged"};
  return parse_note(std::string(*whole));
}

void take_left(const TakenNames& store, const std::string& path, std::vector<std::string>& said) {
  // Without links: the killed session's tools may have put one there.
  const auto parent = open_link_free(fs::path(path).parent_path().string(), O_PATH | O_DIRECTORY);
  const std::string part = fs::path(path).filename().string();
  struct stat status{};
  if (!parent || part.empty()) return;
  if (::fstatat(parent->number(), part.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  said.push_back("left by a session that was killed: " +
                 describe_taken(path, store.take(*parent, part)));
}

void take_left(const TakenNames& store, const AbsentNames& absent, const FindNames& find,
               std::vector<std::string>& said) {
  for (const std::string& path : absent.paths) take_left(store, path, said);
  if (absent.roots.empty()) return;
  const auto found = find(absent.roots, absent.names);
  if (!found) {
    said.push_back(
        "a session was killed, and protected names that it may have made could not be "
        "looked for: " +
        found.error().message);
    return;
  }
  for (const std::string& path : *found) {
    if (std::ranges::find(absent.known, path) == absent.known.end()) take_left(store, path, said);
  }
}

}  // namespace

std::string default_taken_directory() {
  std::error_code none;
  fs::path base = fs::temp_directory_path(none);
  if (none) base = "/tmp";
  return (base / ("pawl-taken-" + std::to_string(::geteuid()))).string();
}

std::string describe_taken(const std::string& path, const Result<std::string>& taken) {
  const std::string what = path + " is a protected name";
  if (!taken) {
    return what + ", and could not be taken away: " + taken.error().message + " (remove it)";
  }
  return what + ": it was moved to " + *taken + " (mv puts it back)";
}

TakenNames::TakenNames(std::string directory, std::string run)
    : directory_(directory.empty() ? default_taken_directory() : std::move(directory)),
      run_(std::move(run)) {}

Result<std::string> TakenNames::make_slot() const {
  PAWL_CHECK(make_private(directory_));
  const std::string of_run = directory_ + "/" + run_;
  PAWL_CHECK(make_private(of_run));
  for (int number = 1; number <= kTakenMax; ++number) {
    std::string slot = of_run + "/" + std::to_string(number);
    if (::mkdir(slot.c_str(), kPrivateDirectory) == 0) return slot;
    if (errno != EEXIST) return failure(slot);
  }
  return Error{ErrorCode::limit_exceeded,
               of_run + " holds " + std::to_string(kTakenMax) + " things already"};
}

Result<std::string> TakenNames::take(const Descriptor& parent, const std::string& part) const {
  return take_by(parent, part, [&](const std::string& target) -> Status {
    if (rename_away(parent, part, target)) return ok();
    if (errno == EXDEV) return copy_away(parent, part, target);
    return Error{ErrorCode::unavailable, describe_errno(errno)};
  });
}

Result<std::string> TakenNames::take_now(const Descriptor& parent, const std::string& part) const {
  return take_by(parent, part, [&](const std::string& target) -> Status {
    if (rename_away(parent, part, target)) return ok();
    return Error{ErrorCode::unavailable, describe_errno(errno)};
  });
}

Result<std::string> TakenNames::take_by(
    const Descriptor& parent, const std::string& part,
    const std::function<Status(const std::string& target)>& move) const {
  struct stat status{};
  if (::fstatat(parent.number(), part.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return failure(part);
  }
  PAWL_TRY(const std::string slot, make_slot());
  std::string target = slot + "/" + part;
  const Status copied = move(target);
  if (copied) {
    drop_oldest_taken(directory_, kTakenStoreBytesMax);
    return target;
  }
  std::error_code none;
  fs::remove_all(slot, none);
  return copied.error();
}

Result<std::string> TakenNames::take_path(const std::string& path) const {
  const fs::path whole(path);
  PAWL_TRY(const Descriptor parent,
           open_link_free(whole.parent_path().string(), O_PATH | O_DIRECTORY));
  return take(parent, whole.filename().string());
}

namespace {

// On disk, so that a file with holes does not count for more than it is. What cannot be looked at
// counts for nothing.
std::uint64_t bytes_beneath(const fs::path& place) {
  std::uint64_t bytes = 0;
  std::size_t entries = 0;
  const auto add = [&](const fs::path& path) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) == 0) {
      bytes += static_cast<std::uint64_t>(status.st_blocks) * 512U;
    }
  };
  std::error_code none;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (auto at = fs::recursive_directory_iterator(place, kOptions, none);
       !none && at != fs::recursive_directory_iterator() && ++entries <= kTakenEntriesMax * 10;
       at.increment(none)) {
    add(at->path());
  }
  return bytes;
}

struct TakenSlot {
  std::int64_t time_ns = 0;
  std::size_t length = 0;  // of its path, then the path: 9 comes before 10
  std::string path;
  std::uint64_t bytes = 0;
};

// The oldest first.
std::vector<TakenSlot> slots_in(const std::string& directory) {
  std::vector<TakenSlot> slots;
  std::error_code none;
  for (const auto& run : fs::directory_iterator(directory, none)) {
    if (!run.is_directory(none) || run.path().filename() == kWritingName) continue;
    for (const auto& slot : fs::directory_iterator(run.path(), none)) {
      struct stat status{};
      if (slots.size() >= kTakenEntriesMax || ::lstat(slot.path().c_str(), &status) != 0) continue;
      slots.push_back({status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
                       slot.path().native().size(), slot.path().string(),
                       bytes_beneath(slot.path())});
    }
  }
  // Where the kernel's clock is coarse, several have one time.
  std::ranges::sort(slots, {}, [](const TakenSlot& slot) {
    return std::tie(slot.time_ns, slot.length, slot.path);
  });
  return slots;
}

// Of file tools whose process was killed.
void sweep_writing(const std::string& directory) {
  std::size_t looked = 0;
  std::error_code none;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  for (const auto& entry :
       fs::directory_iterator(directory + "/" + std::string(kWritingName), none)) {
    struct stat status{};
    if (++looked > kAbsentNotesMax) return;
    if (::lstat(entry.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (now.tv_sec - status.st_ctim.tv_sec > kWritingSecondsMax) ::unlink(entry.path().c_str());
  }
}

}  // namespace

std::uint64_t taken_bytes(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const TakenSlot& slot : slots_in(directory)) bytes += slot.bytes;
  return bytes;
}

std::size_t drop_oldest_taken(const std::string& directory, std::uint64_t bytes_max) {
  const std::vector<TakenSlot> slots = slots_in(directory);
  std::uint64_t bytes = 0;
  for (const TakenSlot& slot : slots) bytes += slot.bytes;
  std::size_t removed = 0;
  for (const TakenSlot& slot : slots) {
    if (bytes <= bytes_max || removed + 1 >= slots.size()) break;
    sandbox::remove_directory(slot.path);
    bytes -= slot.bytes;
    ++removed;
  }
  return removed;
}

Result<AbsentNote> AbsentNote::write(const TakenNames& store, const std::string& run,
                                     const AbsentNames& absent) {
  AbsentNote note;
  if (absent.paths.empty() && absent.roots.empty()) return note;
  PAWL_CHECK(make_private(store.directory()));
  std::uint64_t noise = 0;
  PAWL_ASSERT(::getrandom(&noise, sizeof noise, 0) == static_cast<ssize_t>(sizeof noise));
  note.path_ =
      store.directory() + "/" + std::string(kNotePrefix) + run + "-" + std::to_string(noise);
  note.file_.reset(::open(note.path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!note.file_ || ::flock(note.file_.number(), LOCK_EX | LOCK_NB) != 0) {
    return failure(note.path_);
  }
  const std::string text = sealed(write_note(absent));
  const ssize_t written = ::write(note.file_.number(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()) || ::fdatasync(note.file_.number()) != 0) {
    Error error = failure(note.path_);
    note.remove();
    return error;
  }
  return note;
}

void AbsentNote::remove() {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
  file_.reset();
}

std::vector<std::string> sweep_absent_notes(const std::string& directory, const FindNames& find) {
  sweep_writing(directory);
  std::vector<std::string> said;
  std::size_t looked = 0;
  std::error_code none;  // Most directories have no notes.
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kNotePrefix) || ++looked > kAbsentNotesMax) continue;
    const Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;  // its session lives
    const std::size_t end = name.rfind('-');
    const TakenNames store(directory, name.substr(kNotePrefix.size(), end - kNotePrefix.size()));
    if (const auto absent = read_note(file)) {
      take_left(store, *absent, find, said);
    } else {
      said.push_back(entry.path().string() + ", the note of a session that was killed, is " +
                     absent.error().message + ": look for protected names yourself");
    }
    ::unlink(entry.path().c_str());
  }
  return said;
}

}  // namespace pawl::backend
