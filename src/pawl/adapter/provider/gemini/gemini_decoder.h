// How a response of generateContent is read, streamed or whole.
#pragma once

#include <memory>
#include <vector>

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

std::unique_ptr<ReplyDecoder> make_gemini_decoder(const std::vector<ToolSpec>& tools,
                                                  const WireOptions& options);

}  // namespace pawl::provider
