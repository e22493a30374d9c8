// Files that are too long to be held whole: read line by line, written piece by piece.
#pragma once

#include <memory>
#include <string>

#include "pawl/port/kept_files.h"

namespace pawl {

// not_found, unavailable. invalid_argument: it cannot be read twice, as a pipe cannot.
Result<std::unique_ptr<LineSource>> open_line_file(const std::string& path);
// A new file, which only its owner may read. conflict: it is there already. One that is not
// finished is removed again.
Result<std::unique_ptr<OutputFile>> create_output_file(const std::string& path);

}  // namespace pawl
