// How a request is written for generateContent and streamGenerateContent.
#pragma once

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

// Before 2.5 models do not think; 2.5 takes a budget of tokens; from 3 on there are levels, and
// calls in the past must carry their signatures.
enum class GeminiGeneration : std::uint8_t { early, budget, level };
GeminiGeneration gemini_generation_of(std::string_view model_id);

// "/v1beta/models/gemini-3:streamGenerateContent?alt=sse". invalid_argument: the id does not belong
// into a path.
Result<std::string> gemini_path(const PhaseExecutionRequest& request, const WireOptions& options);

}  // namespace pawl::provider
