// An estimate of what a model call would have cost: a quarter of a token for each byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pawl/executor.h"
#include "pawl/result.h"

namespace pawl {

// Of a conversation only the newest messages are counted, as if the rest were cached: a step costs
// the same however long the run is.
inline constexpr std::size_t kMessagesCountedMax = 4;

std::uint64_t tokens_of_bytes(std::uint64_t bytes);

// What is sent with the request; no more than `context_tokens_max` unless that is 0. Fails when the
// conversation cannot be read.
Result<std::uint64_t> tokens_sent(const PhaseExecutionRequest& request,
                                  std::uint64_t context_tokens_max);

}  // namespace pawl
