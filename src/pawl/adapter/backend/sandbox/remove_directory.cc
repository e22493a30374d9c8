#include "pawl/adapter/backend/sandbox/remove_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>

#include "pawl/base/descriptor.h"

namespace pawl::sandbox {
namespace {

struct CloseStream {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// By a descriptor that only names it: what has become a link meanwhile is not changed.
Descriptor open_with_rights(int parent, const char* name) {
  constexpr int kNamed = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor named(::openat(parent, name, O_PATH | kNamed));
  if (!named) return Descriptor();
  const std::string path = "/proc/self/fd/" + std::to_string(named.number());
  struct stat status{};
  if (::fstat(named.number(), &status) == 0 && (status.st_mode & S_IRWXU) != S_IRWXU) {
    ::chmod(path.c_str(), S_IRWXU);
  }
  return Descriptor(::openat(named.number(), ".", O_RDONLY | kNamed));
}

void for_each_name(int directory, const std::function<void(const char*)>& visit) {
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseStream> stream(again < 0 ? nullptr : ::fdopendir(again));
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") visit(name.c_str());
  }
}

class Emptying {
 public:
  explicit Emptying(int top) : top_(top) {}

  // One level less; false: nothing more can be done.
  bool round() {
    bool progress = false;
    for_each_name(top_, [&](const char* name) { progress = remove(name) || progress; });
    return progress;
  }

 private:
  bool remove(const char* name) {
    if (::unlinkat(top_, name, 0) == 0) return true;
    const Descriptor directory = open_with_rights(top_, name);
    bool progress = false;
    if (directory) {
      for_each_name(directory.number(), [&](const char* inner) {
        progress = take_out(directory.number(), inner) || progress;
      });
    }
    return ::unlinkat(top_, name, AT_REMOVEDIR) == 0 || progress;
  }

  bool take_out(int directory, const char* name) {
    if (::unlinkat(directory, name, 0) == 0 || ::unlinkat(directory, name, AT_REMOVEDIR) == 0) {
      return true;
    }
    // Who moves a directory must be allowed to write in it.
    const Descriptor rights = open_with_rights(directory, name);
    for (int attempt = 0; attempt < kNamesTriedMax; ++attempt) {
      const std::string up = "pawl-gone-" + std::to_string(moved_++);
      if (::renameat2(directory, name, top_, up.c_str(), RENAME_NOREPLACE) == 0) return true;
      if (errno != EEXIST) return false;
    }
    return false;
  }

  static constexpr int kNamesTriedMax = 16;
  int top_;
  std::uint64_t moved_ = 0;
};

}  // namespace

void remove_directory(const std::string& path) {
  const Descriptor top = open_with_rights(AT_FDCWD, path.c_str());
  if (!top) return;
  Emptying emptying(top.number());
  while (emptying.round()) {  // ends: each round removes or raises something
  }
  ::unlinkat(AT_FDCWD, path.c_str(), AT_REMOVEDIR);
}

}  // namespace pawl::sandbox
