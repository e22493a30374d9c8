// Replaces a file of the operator's git under git's own lock, NAME.lock, in a way that a later
// session can tell the lock of a killed one from an operator's.
//
// The file is written without a name first. A note of what it is (device, inode, size, time) is
// kept in a directory of Pawl's own before it gets the lock's name. A lock that a note describes is
// nobody's who lives: the directory of the note is locked by the session that has it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/result.h"

namespace pawl::git {

struct LockedFile {
  std::string directory;  // absolute
  std::string name;
  Owner owner;
};

// conflict: somebody else has the lock. What `still` says, once the lock is held, is given back.
// `notes` is a directory; -1: there is none.
Status replace_noted(int notes, const LockedFile& file, std::string_view text,
                     const std::function<Status()>& still);

// Removes the lock that a killed session has left. True: there was one.
bool remove_noted_lock(int notes);

}  // namespace pawl::git
