// What the host does to itself before it holds any secret: no core dumps, and nobody of the same
// user may read its memory or its environment.
#pragma once

#include "pawl/base/result.h"

namespace pawl {

// For main(), before anything else. Inherited limits that are lower already stay.
Status harden_host();

}  // namespace pawl
