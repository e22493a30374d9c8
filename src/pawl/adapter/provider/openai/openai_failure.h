// What the errors of OpenAI's dialects mean, wherever they stand: in the body of an error status,
// in an event, in a body whose status says that all is well.
#pragma once

#include <string_view>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/json.h"

namespace pawl::provider {

// In a response whose status says that all is well: {"code", "type", "message"} or just a text.
PhaseFailed openai_failure(const Json& error);

// A response with an error status; `body` may be anything, and cut.
PhaseFailed openai_status_failure(const HttpResponseHead& head, std::string_view body,
                                  std::int64_t now_wall_ms);

}  // namespace pawl::provider
