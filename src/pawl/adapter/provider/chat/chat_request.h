// The body of POST /v1/chat/completions.
#pragma once

#include <string>

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

// invalid_argument: it cannot be asked in this dialect, with the reason.
Result<std::string> chat_body(const PhaseExecutionRequest& request,
                              const std::vector<Message>& messages, const WireOptions& options);

}  // namespace pawl::provider
