// Opens a path of which no component may be a symbolic link: what somebody planted on the way is
// not followed.
#pragma once

#include <string>

#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl {

// By openat2(RESOLVE_NO_SYMLINKS). invalid_argument: a component is a link, and which; unavailable:
// there is no openat2 here; not_found and others as the system says. `flags` beside O_CLOEXEC.
Result<Descriptor> open_link_free(const std::string& path, int flags);
// Whether it could be opened, without looking at what it is.
Status reach_link_free(const std::string& path);

}  // namespace pawl
