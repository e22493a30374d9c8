// How a model is to answer. What is not set is left to the provider.
#pragma once

#include <cstdint>
#include <optional>

#include "pawl/kernel/words.h"

namespace pawl {

inline constexpr std::uint64_t kOutputTokensMax = 1'000'000;
inline constexpr std::uint32_t kTemperatureMilliMax = 2'000;

struct SamplingOptions {
  std::optional<std::uint64_t> max_output_tokens;
  std::optional<std::uint32_t> temperature_milli;  // 700 is 0.7: never binary floating point
  ReasoningEffort effort = ReasoningEffort::unset;
  Streaming stream = Streaming::automatic;

  friend bool operator==(const SamplingOptions&, const SamplingOptions&) = default;
};

}  // namespace pawl
