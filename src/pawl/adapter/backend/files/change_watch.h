// Tells that nothing beneath some directories has changed, so that a scan of their files is spared.
//
// Not seen: what a process stores through a mapping of a file that it keeps open. The caller scans
// while such a process may live. Nor is a write by a second name that the file got since begin() in
// a directory that is not watched (node_modules): the next scan sees it.
#pragma once

#include <set>
#include <string>

#include "pawl/base/descriptor.h"

namespace pawl::backend {

inline constexpr std::size_t kChangeWatchesMax =
    4096;  // the user's own number is shared by all processes

class ChangeWatch {
 public:
  // Begins a scan: what happened until now is forgotten.
  void begin();
  // Adds `name` in the open directory `parent`; empty: that directory itself. Before its entries
  // are read, so that what is made meanwhile is either read or noticed.
  void add(int parent, const std::string& name);
  // A file that has another name: a write by that name is told to the directory of that name only.
  void add_file(int parent, const std::string& name);
  // There was more than a scan takes, or the kernel has no watch left: from now on never quiet.
  void give_up();
  // True: nothing was made, removed, renamed, written or changed since begin().
  bool is_quiet();

 private:
  void add(int parent, const std::string& name, unsigned changes);
  bool drain();

  enum class State : std::uint8_t { idle, armed, given_up } state_ = State::idle;
  Descriptor events_;
  std::set<int> watches_;
  bool touched_ = true;
};

}  // namespace pawl::backend
