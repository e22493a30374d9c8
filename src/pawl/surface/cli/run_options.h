// The options of `pawl run`, as what a run is started with.
#pragma once

#include "pawl/kernel/limits.h"
#include "pawl/kernel/sampling.h"
#include "pawl/runtime/invocation.h"
#include "pawl/surface/cli/arguments.h"

namespace pawl {

// `charter` with the limits that options name.
Result<Limits> limits_with_options(const Arguments& arguments, Limits charter);
Result<std::shared_ptr<const InvocationContext>> invocation_of(const Arguments& arguments,
                                                               const Limits& charter,
                                                               const std::string& user);

// --max-tokens, --temperature, --effort and --no-stream.
Result<SamplingOptions> sampling_of(const Arguments& arguments);

}  // namespace pawl
