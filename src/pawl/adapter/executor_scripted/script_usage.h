// An estimate of what a model call would have cost: a quarter of a token for each byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pawl/base/result.h"
#include "pawl/port/executor.h"

namespace pawl {

// Of a conversation only so many of the newest messages are counted, so that a long run does not
// read its whole past once more with every step.
inline constexpr std::size_t kMessagesCountedMax = 1'000;

std::uint64_t tokens_of_bytes(std::uint64_t bytes);

// What is sent with the request; no more than `context_tokens_max` unless that is 0. Fails when the
// conversation cannot be read.
Result<std::uint64_t> tokens_sent(const PhaseExecutionRequest& request,
                                  std::uint64_t context_tokens_max);

}  // namespace pawl
