// How a request is written for POST /v1/messages.
#pragma once

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

inline constexpr std::size_t kAnthropicCacheMarksMax = 4;
// Asked for when neither the caller nor the model's facts say how much.
inline constexpr std::uint64_t kAnthropicOutputTokensDefault = 8'192;
// Not more than this unless the caller says so: what is asked for is reserved from rate limits.
inline constexpr std::uint64_t kAnthropicOutputTokensUsual = 32'000;

// How a model is told to think. Models from 4.6 on decide themselves, by effort; those before take
// a budget of tokens; those before 3.7 do not think.
enum class AnthropicThinking : std::uint8_t { none, budget, adaptive };
AnthropicThinking anthropic_thinking_of(std::string_view model_id);

}  // namespace pawl::provider
