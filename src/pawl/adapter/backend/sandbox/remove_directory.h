// Removes a directory that a tool had for its own, with all that is in it.
//
// A tool can make directories that nobody may read, and a tree deeper than a process has
// descriptors. So rights are taken back, and what lies deep is moved up before it is removed: there
// are never more than a few descriptors open.
#pragma once

#include <string>

namespace pawl::sandbox {

// No link is followed. What cannot be removed stays.
void remove_directory(const std::string& path);

}  // namespace pawl::sandbox
