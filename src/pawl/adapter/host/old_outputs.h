// Cut output that tools have kept in files: what is old, and what is damaged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/port/kept_files.h"

namespace pawl {

// Of the regular files in `directory` that nobody has written to since `before_ms`. What is a link
// is followed nowhere, and left.
FileTally old_outputs(const std::string& directory, std::int64_t before_ms, OldFiles what);

// Of the files in `directory` that are called by their digest, those that do not fit it, a sentence
// each.
std::vector<std::string> damaged_outputs(const std::string& directory);

}  // namespace pawl
