// The instances of a run that act just now, a line each, for the live view.
#pragma once

#include <string>
#include <vector>

#include "pawl/kernel/run.h"

namespace pawl {

inline constexpr std::size_t kActingLinesMax = 8;

// "  i2 reviewer · step 3 · runs bash", cut to the width; none of a run with one instance. What is
// beyond kActingLinesMax is counted in the last line.
std::vector<std::string> acting_lines(const RunState& state, std::size_t columns);

}  // namespace pawl
