// Cut output that tools have kept in files, once it is old.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/port/kept_files.h"

namespace pawl {

// Of the regular files in `directory` that nobody has written to since `before_ms`. What is a link
// is followed nowhere, and left.
FileTally old_outputs(const std::string& directory, std::int64_t before_ms, OldFiles what);

}  // namespace pawl
