#include "pawl/adapter/backend/git/file_marks.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "pawl/base/descriptor.h"

namespace pawl::git {
namespace {

struct CloseStream {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

class Marks {
 public:
  // Recursion is bounded by kMarkedDepthMax.
  void add(int directory, const std::string& name, int depth) {
    struct stat status{};
    if (++seen_ > kMarkedFilesMax || depth > kMarkedDepthMax) return;
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    const bool deeper = S_ISDIR(status.st_mode);
    hash_.add(name);
    const std::array<std::uint64_t, 6> numbers = {
        static_cast<std::uint64_t>(status.st_ino),
        static_cast<std::uint64_t>(status.st_mode),
        deeper ? 0 : static_cast<std::uint64_t>(status.st_size),
        static_cast<std::uint64_t>(status.st_mtim.tv_sec),
        static_cast<std::uint64_t>(status.st_mtim.tv_nsec),
        static_cast<std::uint64_t>(status.st_ctim.tv_nsec)};
    hash_.add({reinterpret_cast<const char*>(numbers.data()), sizeof numbers});
    if (deeper) enter(directory, name, depth);
  }

  Digest finish() { return hash_.finish(); }

 private:
  void enter(int directory, const std::string& name, int depth) {
    Descriptor opened(
        ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const std::unique_ptr<DIR, CloseStream> stream(opened ? ::fdopendir(opened.number()) : nullptr);
    if (!stream) return;
    const int number = opened.release();
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream.get())) {
      const std::string_view found = entry->d_name;
      if (found == "." || found == "..") continue;
      if (names.size() >= kMarkedFilesMax) break;
      names.emplace_back(found);
    }
    std::ranges::sort(names);
    for (const std::string& found : names) add(number, found, depth + 1);
  }

  Sha256 hash_;
  std::size_t seen_ = 0;
};

}  // namespace

Digest marks_of(int directory, const std::vector<std::string>& names) {
  Marks marks;
  for (const std::string& name : names) marks.add(directory, name, 0);
  return marks.finish();
}

}  // namespace pawl::git
