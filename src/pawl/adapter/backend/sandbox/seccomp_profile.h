// The filter of container engines, as they all read it: a list of what is allowed, because what has
// no name yet cannot be denied by one.
#pragma once

#include "pawl/json.h"

namespace pawl::sandbox {

// Without what depends on the level and the network.
Json seccomp_profile();

}  // namespace pawl::sandbox
