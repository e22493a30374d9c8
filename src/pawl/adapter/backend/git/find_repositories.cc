#include "pawl/adapter/backend/git/find_repositories.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "pawl/base/bare_repository.h"
#include "pawl/base/descriptor.h"

namespace pawl::git {
namespace {

struct CloseWalk {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

class Finder {
 public:
  Finder(const std::vector<std::string>& roots, const FindBounds& bounds,
         const std::vector<std::string>& except)
      : bounds_(bounds), seen_(except.begin(), except.end()) {
    for (const std::string& root : roots) queue_.push_back({root, 0});
  }

  // Breadth first: what is near is found before the bound.
  FoundRepositories find() {
    walk(bounds_.entries);
    const bool complete = found_.complete;
    queue_ = std::exchange(packages_, {});
    walk(entries_ + kFindPackagesMax);
    found_.complete = complete;
    return std::move(found_);
  }

 private:
  struct Next {
    std::string path;
    std::size_t depth;
  };

  void walk(std::size_t entries_max) {
    entries_max_ = entries_max;
    while (!queue_.empty()) {
      const auto [path, depth] = std::move(queue_.front());
      queue_.pop_front();
      if (seen_.insert(path).second) look_into(path, depth);
    }
  }

  void look_into(const std::string& path, std::size_t depth) {
    Descriptor opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const std::unique_ptr<DIR, CloseWalk> stream(opened ? ::fdopendir(opened.number()) : nullptr);
    if (!stream) return;
    const int number = opened.release();
    while (const dirent* entry = ::readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++entries_ > entries_max_) {
        found_.complete = false;
        return queue_.clear();
      }
      if (name == ".git") {
        add(found_.work_trees, path);
      } else if (name == "HEAD") {
        if (is_bare_repository(number)) add(found_.bare, path);
      } else if (is_directory(number, *entry)) {
        enter(path, name, depth);
      }
    }
  }

  void add(std::vector<std::string>& list, const std::string& path) {
    if (list.size() >= bounds_.repositories) {
      found_.complete = false;
    } else {
      list.push_back(path);
    }
  }

  void enter(const std::string& path, std::string_view name, std::size_t depth) {
    if (depth >= bounds_.depth) {
      found_.complete = false;
      return;
    }
    auto& queue = name == "node_modules" ? packages_ : queue_;
    queue.push_back({(path == "/" ? "" : path) + "/" + std::string(name), depth + 1});
  }

  static bool is_directory(int directory, const dirent& entry) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat status{};
    return ::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
  }

  FindBounds bounds_;
  std::deque<Next> queue_;
  std::deque<Next> packages_;
  std::size_t entries_max_ = 0;
  std::set<std::string> seen_;
  std::size_t entries_ = 0;
  FoundRepositories found_;
};

}  // namespace

FoundRepositories find_repositories(const std::vector<std::string>& roots, const FindBounds& bounds,
                                    const std::vector<std::string>& except) {
  return Finder(roots, bounds, except).find();
}

}  // namespace pawl::git
