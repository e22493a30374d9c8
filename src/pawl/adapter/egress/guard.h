// The guard: the host against the policy's list, then every address of it against the ranges that
// are not of the public Internet. One address that is unfit refuses the name.
#pragma once

#include <memory>

#include "pawl/loop.h"
#include "pawl/port/egress.h"

namespace pawl {

// Used on the loop's thread; the loop outlives it and its operations. `sink` (may be empty) is told
// of every verdict.
std::shared_ptr<EgressGuard> make_egress_guard(Loop& loop, std::shared_ptr<Resolver> resolver,
                                               EgressPolicy policy, EgressSink sink = {});

}  // namespace pawl
