#include "pawl/adapter/backend/git/noted_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "pawl/base/describe_errno.h"

namespace pawl::git {
namespace {

constexpr const char* kNoteName = "lock";
constexpr std::size_t kNoteBytesMax = 8192;
constexpr mode_t kLockMode = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;

Error fault_of(const std::string& path, int error) {
  return {ErrorCode::unavailable, path + ": " + describe_errno(error)};
}

// What a file is, until somebody writes it.
std::string identity_of(const struct stat& status) {
  std::ostringstream text;
  text << status.st_dev << ' ' << status.st_ino << ' ' << status.st_size << ' '
       << status.st_mtim.tv_sec << ' ' << status.st_mtim.tv_nsec;
  return text.str();
}

Status write_whole(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fault_of(path, errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return ::fsync(file) == 0 ? ok() : Status(fault_of(path, errno));
}

Status note_down(int notes, int file, const std::string& lock) {
  struct stat status{};
  if (notes < 0) return ok();
  if (::fstat(file, &status) != 0) return fault_of(lock, errno);
  return replace_beneath(notes, kNoteName, identity_of(status) + "\n" + lock + "\n", {});
}

// Without a name, where the file system can do that.
class LockFile {
 public:
  LockFile(std::string lock, int directory) : path_(std::move(lock)), directory_(directory) {}
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile() {
    if (is_named_) ::unlink(path_.c_str());
  }

  Status take(int notes, std::string_view text, const Owner& owner) {
    file_.reset(::openat(directory_, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, kLockMode));
    const bool nameless = static_cast<bool>(file_);
    if (!nameless) PAWL_CHECK(take_name([&] { return make(); }));
    give_to(file_.number(), owner);
    PAWL_CHECK(write_whole(file_.number(), text, path_));
    PAWL_CHECK(note_down(notes, file_.number(), path_));
    return nameless ? take_name([&] { return link(); }) : ok();
  }

  Status rename_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return fault_of(path, errno);
    is_named_ = false;
    return ok();
  }

 private:
  Status take_name(const std::function<bool()>& how) {
    if (!how()) {
      if (errno != EEXIST) return fault_of(path_, errno);
      return Error{ErrorCode::conflict, path_ + " is there: somebody else is changing it"};
    }
    is_named_ = true;
    return ok();
  }
  bool make() {
    file_.reset(
        ::open(path_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, kLockMode));
    return static_cast<bool>(file_);
  }
  bool link() const {
    const std::string file = "/proc/self/fd/" + std::to_string(file_.number());
    return ::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0;
  }

  std::string path_;
  int directory_;
  Descriptor file_;
  bool is_named_ = false;
};

}  // namespace

Status replace_noted(int notes, const LockedFile& file, std::string_view text,
                     const std::function<Status()>& still) {
  const Descriptor directory(::open(file.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fault_of(file.directory, errno);
  const std::string path = file.directory + "/" + file.name;
  Status done = ok();
  {
    LockFile lock(path + ".lock", directory.number());
    done = lock.take(notes, text, file.owner);
    if (done) done = still();
    if (done) done = lock.rename_to(path);
  }
  if (notes >= 0) ::unlinkat(notes, kNoteName, 0);
  return done;
}

bool remove_noted_lock(int notes) {
  const auto note = read_plain_beneath(notes, kNoteName, kNoteBytesMax);
  if (!note) return false;
  const std::size_t line = note->find('\n');
  const bool whole = line != std::string::npos && note->ends_with('\n');
  const std::string lock = whole ? note->substr(line + 1, note->size() - line - 2) : "";
  struct stat status{};
  const bool ours = lock.ends_with(".lock") && ::lstat(lock.c_str(), &status) == 0 &&
                    S_ISREG(status.st_mode) && identity_of(status) == note->substr(0, line) &&
                    ::unlink(lock.c_str()) == 0;
  ::unlinkat(notes, kNoteName, 0);
  return ours;
}

}  // namespace pawl::git
