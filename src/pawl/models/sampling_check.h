// What is asked of a model that it cannot do is found before anybody is asked.
#pragma once

#include <vector>

#include "pawl/limits.h"
#include "pawl/models/model_resolver.h"
#include "pawl/result.h"

namespace pawl {

// Refuses a temperature or an effort that one of the targets would not be told of, and more output
// than it writes. Reserved words (a script, the host) take everything.
Status check_sampling(const SamplingOptions& sampling, const std::vector<ResolvedTarget>& targets);

}  // namespace pawl
