// Whether anything of git's has changed, without reading it: names, numbers and times of files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pawl/ids.h"

namespace pawl::git {

inline constexpr std::size_t kMarkedFilesMax = 50'000;
inline constexpr int kMarkedDepthMax = 16;

// Of these files and directories beneath `directory`, and all that is in those. No link is
// followed. What is there beyond the bounds is not seen.
Digest marks_of(int directory, const std::vector<std::string>& names);

}  // namespace pawl::git
