// The options of `pawl run`, as what a run is started with.
#pragma once

#include "pawl/agent.h"
#include "pawl/limits.h"
#include "pawl/surface/cli/arguments.h"

namespace pawl {

// "00-", 32 digits of a trace, "-", 16 digits of a span, "-", two of flags, as W3C defines it.
bool is_trace_parent(std::string_view text);

// "1.00", or "1.00 USD" where that is the run's currency.
Result<std::uint64_t> parse_money_option(std::string_view option, const std::string& text,
                                         const std::string& currency);
// `charter` with the limits that options name. Money is in `currency`.
Result<Limits> limits_with_options(const Arguments& arguments, Limits charter,
                                   const std::string& currency);
Result<std::shared_ptr<const InvocationContext>> invocation_of(const Arguments& arguments,
                                                               const Limits& charter,
                                                               const std::string& currency,
                                                               const std::string& user);

// --max-tokens, --temperature, --effort and --no-stream.
Result<SamplingOptions> sampling_of(const Arguments& arguments);

}  // namespace pawl
