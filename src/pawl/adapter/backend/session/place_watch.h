// The kernel's events about the directories that hold protected names: one inotify instance a
// session. It says that something may have changed; what, is looked at by its owner.
//
// Where the user has no inotify instance left it is blind: has_news() is always true then.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "pawl/base/descriptor.h"

namespace pawl::backend {

inline constexpr std::size_t kWatchedDirectoriesMax = 2048;

class PlaceWatch {
 public:
  PlaceWatch();
  // Moved-only: one descriptor.
  PlaceWatch(PlaceWatch&&) = default;
  PlaceWatch& operator=(PlaceWatch&&) = default;

  // A directory that is not there, or one too many, makes it blind.
  void add_directory(const std::string& path);
  // Events about other names are passed over.
  void add_name(std::string name) { names_.insert(std::move(name)); }

  int descriptor() const { return events_.number(); }  // -1: blind
  // Reads what has come. Something about one of the names, or a directory itself, since forget().
  bool has_news();
  void forget() {
    news_ = false;
    fates_.clear();
  }
  // What has come until now about entries was before they were held.
  void begin() {
    has_news();
    fates_.clear();
  }
  // Since then, or the last forget(): the entry was removed, moved or put there anew.
  bool has_moved(const std::string& path) const { return fates_.contains(path); }
  // Likewise: the entry was replaced or made, and then a program that could write it
  // has closed it, or another thing was put there; or one was, where the name was gone.
  bool was_written(const std::string& path) const;
  // Likewise, and then it was removed or moved away: what the host had put there may be lost.
  bool was_removed(const std::string& path) const;

 private:
  enum class Fate : std::uint8_t { gone, replaced, removed, written };

  void take(const std::string& directory, const std::string& name, unsigned mask);

  Descriptor events_;
  bool news_ = false;
  bool blind_ = false;
  bool overflown_ = false;
  std::map<int, std::string> directories_;
  std::set<std::string> names_;
  std::map<std::string, Fate> fates_;  // by path; of `names_` in `directories_` only
};

}  // namespace pawl::backend
