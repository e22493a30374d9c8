#include "pawl/adapter/backend/session/second_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "pawl/adapter/backend/files/roots.h"
#include "pawl/adapter/backend/files/tree_walk.h"
#include "pawl/base/path_text.h"

namespace pawl::backend {
namespace {

using Hold = sandbox::ProtectedPlace::Hold;

constexpr WalkBounds kBounds{kWalkDepthMax, kWalkEntriesMax, 5'000};

// Calls `take` with each regular file beneath the directory that has more than one name. False: not
// all of them were seen.
template <class Take>
bool each_linked(const std::string& directory, const Take& take) {
  const auto roots = Roots::open({directory, {directory}, {}, {}});
  if (!roots) return false;
  bool complete = true;
  for (const Place& root : roots->write_places()) {
    const auto end = walk_tree(root, kBounds, [&](const WalkEntry& entry) {
      if (S_ISREG(entry.status.st_mode) && entry.status.st_nlink > 1) {
        take(Roots::beneath(root, entry.relative).absolute, entry.status);
      }
      return entry.name == ".git" ? Visit::pass_by : Visit::go_on;
    });
    complete = complete && end && *end == WalkEnd::complete;
  }
  return complete;
}

class Search {
 public:
  explicit Search(const std::vector<sandbox::ProtectedPlace>& places) {
    for (const sandbox::ProtectedPlace& place : places) {
      if (place.hold == Hold::in_place) continue;
      held_.push_back(place);
      struct stat status{};
      if (::lstat(place.path.c_str(), &status) != 0) continue;
      if (place.is_directory) {
        each_linked(place.path, [&](const std::string& path, const struct stat& found) {
          want(path, found, place.hold);
        });
      } else if (S_ISREG(status.st_mode) && status.st_nlink > 1) {
        want(place.path, status, place.hold);
      }
    }
  }

  SecondNames beneath(const std::vector<std::string>& roots) {
    SecondNames names;
    if (wanted_.empty()) return names;
    bool complete = true;
    for (const std::string& root : roots) {
      const bool whole = each_linked(
          root, [&](const std::string& path, const struct stat& status) { meet(path, status); });
      complete = complete && whole;
    }
    for (auto& [key, file] : wanted_) {
      auto& list = file.hold == Hold::hidden ? names.hidden : names.read_only;
      std::ranges::copy(file.others, std::back_inserter(list));
      if (!complete && file.seen < file.links) names.unfound.push_back(file.path);
    }
    names.unfound.insert(names.unfound.end(), left_out_.begin(), left_out_.end());
    return names;
  }

 private:
  struct File {
    std::string path;
    Hold hold = Hold::read_only;
    std::size_t links = 0;
    std::size_t seen = 0;
    std::vector<std::string> others = {};
  };
  using Key = std::pair<dev_t, ino_t>;

  void want(const std::string& path, const struct stat& status, Hold hold) {
    const bool full = wanted_.size() >= kSecondNamesMax;
    if (full && !wanted_.contains(Key{status.st_dev, status.st_ino})) {
      if (left_out_.size() < kSecondNamesToldMax) left_out_.push_back(path);
      return;
    }
    File& file = wanted_[Key{status.st_dev, status.st_ino}];
    if (file.path.empty()) file.path = path;
    file.hold = std::max(file.hold, hold);
    file.links = status.st_nlink;
  }

  void meet(const std::string& path, const struct stat& status) {
    const auto found = wanted_.find(Key{status.st_dev, status.st_ino});
    if (found == wanted_.end()) return;
    File& file = found->second;
    ++file.seen;
    const auto holds = [&](const sandbox::ProtectedPlace& place) {
      return place.hold >= file.hold && is_within(path, place.path);
    };
    if (std::ranges::none_of(held_, holds)) file.others.push_back(path);
  }

  std::vector<sandbox::ProtectedPlace> held_;
  std::map<Key, File> wanted_;
  std::vector<std::string> left_out_;
};

}  // namespace

SecondNames find_second_names(const sandbox::SandboxPlan& plan,
                              const std::vector<sandbox::ProtectedPlace>& places) {
  return Search(places).beneath(plan.write_roots);
}

}  // namespace pawl::backend
