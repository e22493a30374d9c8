// The body of POST /v1/responses.
#pragma once

#include <string>

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

// invalid_argument: it cannot be asked in this dialect, with the reason.
Result<std::string> responses_body(const PhaseExecutionRequest& request,
                                   const std::vector<Message>& messages,
                                   const WireOptions& options);

}  // namespace pawl::provider
