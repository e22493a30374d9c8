#include "pawl/adapter/backend/files/tree_walk.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "pawl/adapter/backend/files/file_changes.h"
#include "pawl/adapter/backend/files/shown_name.h"

namespace pawl::backend {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class Walk {
 public:
  Walk(const Place& start, const WalkBounds& bounds, const Visitor& visitor)
      : start_(start), bounds_(bounds), visitor_(visitor), deadline_(bounds.time_ms_max) {}

  // Recursion is bounded by depth_max. False: the walk is over.
  bool enter(Descriptor directory, const std::string& prefix, std::size_t depth) {
    const int number = directory.number();
    const std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(number));
    if (!stream) return true;  // vanished or not ours to read: as if it were empty
    static_cast<void>(directory.release());
    for (const std::string& name : names_of(stream.get())) {
      if (!visit(number, name, prefix, depth)) return false;
    }
    return end_ != WalkEnd::stopped;
  }

  WalkEnd end() const { return end_; }

 private:
  std::vector<std::string> names_of(DIR* stream) {
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || name.starts_with(kTemporaryPrefix)) continue;
      if (++entries_ > bounds_.entries_max) {
        end_ = WalkEnd::bounded;
        break;
      }
      names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  bool visit(int directory, const std::string& name, const std::string& prefix, std::size_t depth) {
    if (deadline_.is_over()) {
      end_ = WalkEnd::bounded;
      return false;
    }
    const std::string relative = prefix.empty() ? name : prefix + "/" + name;
    if (start_.of != nullptr && start_.of->is_hidden(Roots::beneath(start_, relative).absolute)) {
      return true;
    }
    WalkEntry entry{directory, name, relative, {}, depth};
    if (::fstatat(directory, name.c_str(), &entry.status, AT_SYMLINK_NOFOLLOW) != 0) return true;
    const Visit wanted = visitor_(entry);
    if (wanted == Visit::stop) {
      end_ = WalkEnd::stopped;
      return false;
    }
    if (wanted == Visit::pass_by || !S_ISDIR(entry.status.st_mode)) return true;
    if (depth >= bounds_.depth_max) {
      end_ = WalkEnd::bounded;
      return true;
    }
    auto below = open_child(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return !below || enter(*std::move(below), relative, depth + 1);
  }

  const Place& start_;
  const WalkBounds& bounds_;
  const Visitor& visitor_;
  const Deadline deadline_;
  std::size_t entries_ = 0;
  WalkEnd end_ = WalkEnd::complete;
};

}  // namespace

Result<WalkEnd> walk_tree(const Place& start, const WalkBounds& bounds, const Visitor& visitor) {
  PAWL_TRY(Descriptor directory, open_place(start, O_RDONLY | O_DIRECTORY, Links::beneath));
  Walk walk(start, bounds, visitor);
  walk.enter(std::move(directory), "", 1);
  return walk.end();
}

bool is_bulk_directory(std::string_view name) {
  return name == ".git" || name == "node_modules";
}

}  // namespace pawl::backend
