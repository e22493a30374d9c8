// A program that prints a secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pawl/result.h"

namespace pawl {

struct CommandBounds {
  std::int64_t time_ms = 10'000;
  std::size_t bytes = 16U << 10U;
};

// What `arguments` (the program first, looked for in PATH) prints to standard output. No shell, no
// standard input. unavailable: it did not start, failed, or took too long; limit_exceeded: it
// printed more. Blocks.
Result<std::string> output_of(const std::vector<std::string>& arguments,
                              const CommandBounds& bounds);

}  // namespace pawl
