// One file that several processes change, and that is always whole.
#pragma once

#include <functional>
#include <string>

#include "pawl/result.h"

namespace pawl {

// Replaces the file by what `change` makes, for its owner's eyes only. `change` is called under a
// lock (PATH.lock) that others wait for; its error is returned, and the file stays as it is.
Status change_locked_file(const std::string& path,
                          const std::function<Result<std::string>()>& change);

}  // namespace pawl
