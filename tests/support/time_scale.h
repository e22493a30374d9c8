// How much slower than usual this machine is, such as an emulator (tests/stock-kernel/run): tests
// wait that much longer and give calls that much more time. Pawl itself does not read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace pawl {

inline constexpr std::int64_t kTimeScaleMax = 100;

// PAWL_TIME_SCALE, a whole number; 1 without it.
inline std::int64_t time_scale() {
  const char* text = std::getenv("PAWL_TIME_SCALE");
  const std::int64_t scale = text == nullptr ? 1 : std::atoll(text);
  return std::clamp<std::int64_t>(scale, 1, kTimeScaleMax);
}

}  // namespace pawl
