// The filter of container engines, as they all read it: a list of what is denied.
#pragma once

#include "pawl/base/json.h"

namespace pawl::sandbox {

// Without what depends on the level, and without setuid bits: there is no user to gain anything by.
Json seccomp_profile();

}  // namespace pawl::sandbox
