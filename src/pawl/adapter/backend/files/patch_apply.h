// What a file becomes when the hunks of a patch are applied to it. No fuzz: every context line must
// be there exactly; a hunk may stand at another line than it says where that place is the only one.
#pragma once

#include <string>
#include <string_view>

#include "pawl/base/patch_reader.h"

namespace pawl::backend {

// An Error names the file, the hunk, its line in the patch, and what does not fit.
Result<std::string> apply_hunks(std::string_view text, const FilePatch& patch);

}  // namespace pawl::backend
