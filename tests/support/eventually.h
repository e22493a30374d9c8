// For what another process does in its own time.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>

#include "tests/support/time_scale.h"

namespace pawl {

inline constexpr auto kPatience = std::chrono::seconds(30);

// Looks again every two milliseconds until it is so; false: not in time.
inline bool eventually(const std::function<bool()>& is_so) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience * time_scale();
  while (!is_so()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

}  // namespace pawl
