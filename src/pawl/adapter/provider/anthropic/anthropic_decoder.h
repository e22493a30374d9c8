// How a response of POST /v1/messages is read.
#pragma once

#include <memory>
#include <vector>

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

std::unique_ptr<ReplyDecoder> make_anthropic_decoder(const std::vector<ToolSpec>& tools,
                                                     const WireOptions& options);

}  // namespace pawl::provider
